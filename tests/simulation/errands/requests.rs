//! What people do: they order videos, cause e-mails, and buy and return packs of credits.

use fanfare_core::{Act, Tx};
use fanfare_entities::{Millis, stripe_event, stripe_event::EventStatus};
use fanfare_insight::ai::video::{self, VideoRequest};
use fanfare_jobs::JobKind;
use fanfare_mail::Letter;
use fanfare_people::mail;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
use serde_json::json;

use super::{
    Errand,
    outside::{Sale, Server},
};
use crate::{dice::Dice, world::World};

/// Makes a row; returns a line for the trace.
pub async fn make(
    errand: Errand,
    (world, outside): (&World, &Server),
    dice: &mut Dice,
    number: usize,
) -> String {
    let caller = &world.callers[dice.place(world.callers.len())];
    match errand {
        Errand::Videos => order(caller, number).await,
        Errand::Mails => write(caller, number).await,
        Errand::Payments => pay(caller, (outside, world.now()), dice, number).await,
    }
}

async fn order(caller: &Act, number: usize) -> String {
    let wish = json!({"prompt": format!("Video {number}"), "provider": "xai_grok"});
    let wish: VideoRequest = serde_json::from_value(wish).expect("a request");
    let made = Box::pin(video::generate(caller, wish)).await;
    format!("video {number} is ordered: {:?}", made.err().map(|error| error.code()))
}

async fn write(caller: &Act, number: usize) -> String {
    if number.is_multiple_of(2) {
        let email = if caller.request_id.ends_with("first") { "first" } else { "second" };
        let asked =
            mail::request_reset(&caller.cx, &format!("{email}@example.com"), "127.0.0.1").await;
        return format!("a new password is asked for: {}", asked.is_ok());
    }
    let letter =
        Letter::set_password("new@example.com", &format!("https://fanfare.example/{number}"));
    let mut tx = Tx::begin(&caller.cx).await.expect("a transaction");
    let key = format!("letter:{number}");
    mail::write(&mut tx, &key, &letter, caller.caller.user_id).await.expect("an e-mail");
    format!("e-mail {number} is written: {}", tx.commit().await.is_ok())
}

/// A pack is paid, or an earlier one is given back; Stripe reports it, perhaps twice.
async fn pay(
    caller: &Act,
    (outside, now): (&Server, Millis),
    dice: &mut Dice,
    number: usize,
) -> String {
    let open: Vec<String> = {
        let outside = outside.lock();
        let open = outside.sales.iter().filter(|(_, sale)| !sale.is_refunded);
        open.map(|(id, _)| id.clone()).collect()
    };
    let (kind, object) = if !open.is_empty() && dice.happens(300) {
        let id = &open[dice.place(open.len())];
        outside.lock().sales.get_mut(id).expect("a sale").is_refunded = true;
        ("charge.refunded", format!("ch_{id}"))
    } else {
        let id = format!("cs{number}");
        let sale = Sale {
            buyer: caller.caller.user_id.to_string(),
            credits: 100 * dice.between(1, 9),
            is_refunded: false,
        };
        outside.lock().sales.insert(id.clone(), sale);
        ("checkout.session.completed", id)
    };
    for again in 0..=u32::from(dice.happens(300)) {
        let event = format!("evt_{number}_{again}");
        // Stripe sends an event again until it is received.
        while receive(caller, (kind, &object), &event, now).await.is_err() {}
    }
    format!("Stripe reports {kind} of {object}")
}

/// Leaves the row that an event of Stripe leaves, once.
async fn receive(
    caller: &Act,
    (kind, object): (&str, &str),
    event: &str,
    now: Millis,
) -> fanfare_core::Result<()> {
    let mut tx = Tx::begin(&caller.cx).await?;
    let row = stripe_event::ActiveModel {
        event_id: Set(event.to_owned()),
        kind: Set(kind.to_owned()),
        object_id: Set(object.to_owned()),
        status: Set(EventStatus::Pending),
        due_at: Set(Some(now)),
        fencing_token: Set(0),
        attempts: Set(0),
        lease_expirations: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let is_event = stripe_event::Column::EventId.eq(event);
    if stripe_event::Entity::find().filter(is_event).one(tx.conn()).await?.is_some() {
        return Ok(());
    }
    let made = stripe_event::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    tx.enqueue_global(JobKind::ApplyStripeEvent, made.id.0, now);
    tx.commit().await
}
