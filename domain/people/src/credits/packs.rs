//! Packs of credits: their checkout, and the effects of payments, refunds and disputes.

use fanfare_core::{
    Domain,
    error::{Code, Error, Result},
};
use fanfare_entities::{UserId, credit_purchase, credit_purchase::Column, user};
use fanfare_payments::{Charge, CheckoutSession, Dispute, List, PackCheckout, Refund, Request};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, QueryFilter, QuerySelect,
    sea_query::{Expr, OnConflict},
};
use uuid::Uuid;

use super::store::{self, Note};
use crate::billing::{self, give_back, subscriptions};

/// Opens a checkout for a pack and returns its address. `order` is the idempotency key: repeated calls with it open one
/// checkout.
///
/// # Errors
/// [`Code::InvalidField`] for a pack that is not sold, [`Code::BillingNotConfigured`], or [`Code::Unavailable`].
pub async fn open_checkout(
    cx: &Domain,
    person: UserId,
    credits: u32,
    order: Uuid,
) -> Result<String> {
    crate::settings(cx).require_billing()?;
    let pack = crate::settings(cx).plans.packs.iter().find(|pack| pack.credits == credits);
    let pack = pack.ok_or_else(|| {
        let message = format!("There is no pack of {credits} credits.");
        Error::field(Code::InvalidField, "pack", message, "Choose one of the packs on the page.")
    })?;
    let prices = billing::lookup(cx, &[&pack.lookup_key]).await?;
    let email = user::Entity::find_by_id(person).one(&cx.db.read).await?.map(|row| row.email);
    let email = email.ok_or_else(|| Error::internal("a person who pays is gone"))?;
    let customer = subscriptions::latest(&cx.db.read, person).await?.map(|row| row.customer_id);
    let page = format!("{}/dashboard/billing", cx.settings.base_url);
    let request = PackCheckout {
        price: prices.first().map_or("", String::as_str),
        credits,
        customer: customer.as_deref(),
        email: &email,
        reference: &person.to_string(),
        return_url: &page,
    };
    let purpose = format!("credits:{person}:{credits}:{order}");
    let opened: CheckoutSession = billing::call(cx, &purpose, &request.request()).await?;
    opened.url.ok_or_else(|| Error::internal("a checkout has no address"))
}

/// The state of a pack's payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackPayment {
    /// It is paid, and the wallet has the credits.
    Paid,
    /// The payment is on its way.
    Pending,
    /// Nothing was paid.
    Open,
}

/// Asks Stripe for the payment of a checkout to which its buyer comes back, and credits it if it is there.
///
/// # Errors
/// [`Code::NotFound`] unless it is a checkout of this user for a pack, or [`Code::Unavailable`].
pub async fn settle(cx: &Domain, person: UserId, checkout: &str) -> Result<PackPayment> {
    let absent = || Error::new(Code::NotFound, "There is no such payment.");
    let is_id = checkout.len() <= 200
        && checkout.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_id || checkout.is_empty() {
        return Err(absent());
    }
    let session: CheckoutSession =
        billing::read(cx, &format!("checkout/sessions/{checkout}")).await?;
    if pack_of(&session).is_none_or(|(buyer, _)| buyer != person) {
        return Err(absent());
    }
    if !session.is_paid() {
        let is_complete = session.status == "complete";
        return Ok(if is_complete { PackPayment::Pending } else { PackPayment::Open });
    }
    apply(cx, &session).await?;
    Ok(PackPayment::Paid)
}

/// Credits a paid pack, once for each payment, however often and late the payment is reported. A payment of a person who
/// is gone is given back.
///
/// # Errors
/// [`Code::Unavailable`] if Stripe does not answer; then it has to be applied again.
pub(crate) async fn apply(cx: &Domain, session: &CheckoutSession) -> Result<()> {
    let Some((person, credits)) = pack_of(session) else { return Ok(()) };
    let Some(intent) = session.payment_intent.as_deref().filter(|_| session.is_paid()) else {
        return Ok(());
    };
    match credit(cx, person, credits, intent).await? {
        // If a refund was reported before the payment, it found no purchase.
        Credited::Now | Credited::Before => reconcile_payment(cx, intent).await,
        Credited::BuyerGone => {
            if give_back::payment(cx, &format!("credits:{intent}"), intent).await? {
                tracing::error!(
                    intent,
                    "a pack was paid for nobody who is known here; it was refunded"
                );
            }
            Ok(())
        }
    }
}

/// Returns the buyer and the number of credits, if the checkout is one of ours for a pack.
fn pack_of(session: &CheckoutSession) -> Option<(UserId, i64)> {
    let person = Uuid::parse_str(session.client_reference_id.as_deref()?).ok()?;
    let credits: i64 = session.metadata.get(PackCheckout::CREDITS)?.parse().ok()?;
    (session.mode == "payment" && credits > 0).then_some((UserId(person), credits))
}

/// The effect of a payment of a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credited {
    /// The wallet has the credits now.
    Now,
    /// It had them already.
    Before,
    /// There is no such user.
    BuyerGone,
}

/// Credits a pack to a user, once for each payment.
///
/// # Errors
/// The database's.
pub async fn credit(cx: &Domain, person: UserId, credits: i64, intent: &str) -> Result<Credited> {
    let (tx, now) = (cx.db.begin().await?, cx.clock.now());
    if user::Entity::find_by_id(person).one(&tx).await?.is_none() {
        return Ok(Credited::BuyerGone);
    }
    let row = credit_purchase::ActiveModel {
        payment_intent: Set(intent.to_owned()),
        user_id: Set(person),
        credits: Set(credits),
        withdrawn: Set(0),
        taken: Set(0),
        created_at: Set(now),
    };
    let known = OnConflict::column(Column::PaymentIntent).do_nothing().to_owned();
    let made = credit_purchase::Entity::insert(row).on_conflict(known).exec_without_returning(&tx);
    if made.await? == 0 {
        return Ok(Credited::Before);
    }
    let mut book = store::lock(&tx, person, now).await?;
    book.purchase(credits);
    store::write(&tx, &mut book, Note { reference: Some(intent), ..Note::default() }, now).await?;
    tx.commit().await?;
    Ok(Credited::Now)
}

async fn reconcile_payment(cx: &Domain, intent: &str) -> Result<()> {
    let charges: List<Charge> =
        billing::list(cx, &Request::get("charges").with("payment_intent", intent)).await?;
    for charge in &charges.data {
        reconcile(cx, charge).await?;
    }
    Ok(())
}

/// Makes the credits of a charge what its refunds and disputes leave of them, whatever has been reported before.
///
/// # Errors
/// [`Code::Unavailable`] if Stripe does not answer; then it has to be applied again.
pub(crate) async fn reconcile_charge(cx: &Domain, charge: &str) -> Result<()> {
    let charge: Charge = billing::read(cx, &format!("charges/{charge}")).await?;
    reconcile(cx, &charge).await
}

async fn reconcile(cx: &Domain, charge: &Charge) -> Result<()> {
    let Some(intent) = &charge.payment_intent else { return Ok(()) };
    let bought = credit_purchase::Entity::find_by_id(intent.clone()).one(&cx.db.write).await?;
    let Some(bought) = bought else { return Ok(()) };
    let of_charge = |kind: &str| Request::get(kind).with("charge", &charge.id).with("limit", "100");
    let disputes: List<Dispute> = billing::list(cx, &of_charge("disputes")).await?;
    let refunds: List<Refund> = billing::list(cx, &of_charge("refunds")).await?;
    let due = charge.credits_taken_back(bought.credits, &disputes.data, &refunds.data);
    take_back(cx, intent, due).await
}

/// Makes `due` the number of credits of a payment that its refunds and disputes have withdrawn. A higher number takes
/// the difference, but never more than the wallet has; a lower one returns what was taken beyond it.
///
/// # Errors
/// The database's.
pub async fn take_back(cx: &Domain, intent: &str, due: i64) -> Result<()> {
    let (tx, now) = (cx.db.begin().await?, cx.clock.now());
    let find = credit_purchase::Entity::find_by_id(intent.to_owned());
    let Some(bought) = find.lock_exclusive().one(&tx).await? else { return Ok(()) };
    if due == bought.withdrawn {
        return Ok(());
    }
    let mut book = store::lock(&tx, bought.user_id, now).await?;
    let taken = if due > bought.withdrawn {
        bought.taken + book.withdraw(due - bought.withdrawn)
    } else {
        let returned = (bought.taken - due).max(0);
        book.restore(returned);
        bought.taken - returned
    };
    let note = Note { reference: Some(intent), ..Note::default() };
    store::write(&tx, &mut book, note, now).await?;
    credit_purchase::Entity::update_many()
        .col_expr(Column::Withdrawn, Expr::value(due))
        .col_expr(Column::Taken, Expr::value(taken))
        .filter(Column::PaymentIntent.eq(intent))
        .exec(&tx)
        .await?;
    tx.commit().await?;
    Ok(())
}
