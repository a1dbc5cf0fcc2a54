//! Packs of credits: their checkout, and the effects of payments, refunds and disputes.

use fanfare_entities::{UserId, credit_purchase, credit_purchase::Column, user};
use fanfare_payments::{Charge, CheckoutSession, Dispute, List, PackCheckout, Request};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, EntityTrait, QueryFilter, QuerySelect,
    sea_query::{Expr, OnConflict},
};
use uuid::Uuid;

use super::store::{self, Note};
use crate::{
    Domain,
    billing::{self, subscriptions},
    error::{Code, Error, Result},
};

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
    cx.settings.require_billing()?;
    let pack = cx.settings.plans.packs.iter().find(|pack| pack.credits == credits);
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

/// Credits a paid pack, once for each payment, however often and late the payment is reported.
///
/// # Errors
/// [`Code::Unavailable`] if Stripe does not answer; then it has to be applied again.
pub(crate) async fn apply(cx: &Domain, session: &CheckoutSession) -> Result<()> {
    let Some((person, credits)) = pack_of(session) else { return Ok(()) };
    let Some(intent) = session.payment_intent.as_deref().filter(|_| session.is_paid()) else {
        return Ok(());
    };
    credit(cx, person, credits, intent).await?;
    // If a refund was reported before the payment, it found no wallet.
    let charges = Request::get("charges").with("payment_intent", intent);
    let stripe = &cx.settings.require_billing()?.stripe;
    let charges: List<Charge> =
        stripe.read(&charges).await.map_err(|failure| billing::stripe_error(&failure))?;
    for charge in charges.data {
        take_back(cx, &charge).await?;
    }
    Ok(())
}

/// Returns the buyer and the number of credits, if the checkout is one of ours for a pack.
fn pack_of(session: &CheckoutSession) -> Option<(UserId, i64)> {
    let person = Uuid::parse_str(session.client_reference_id.as_deref()?).ok()?;
    let credits: i64 = session.metadata.get(PackCheckout::CREDITS)?.parse().ok()?;
    (session.mode == "payment" && credits > 0).then_some((UserId(person), credits))
}

/// Credits a pack to a user, once for each payment.
///
/// # Errors
/// The database's.
pub async fn credit(cx: &Domain, person: UserId, credits: i64, intent: &str) -> Result<()> {
    let (tx, now) = (cx.db.begin().await?, cx.clock.now());
    if user::Entity::find_by_id(person).one(&tx).await?.is_none() {
        tracing::error!(intent, "a pack of credits was paid for nobody who is known here");
        return Ok(());
    }
    let row = credit_purchase::ActiveModel {
        payment_intent: Set(intent.to_owned()),
        user_id: Set(person),
        credits: Set(credits),
        withdrawn: Set(0),
        created_at: Set(now),
    };
    let known = OnConflict::column(Column::PaymentIntent).do_nothing().to_owned();
    let made = credit_purchase::Entity::insert(row).on_conflict(known).exec_without_returning(&tx);
    if made.await? == 0 {
        return Ok(());
    }
    let mut book = store::lock(&tx, person, now).await?;
    book.purchase(credits);
    store::write(&tx, &mut book, Note { operation: None, reference: Some(intent) }, now).await?;
    tx.commit().await?;
    Ok(())
}

/// Applies a refund of a charge, as Stripe reports it.
///
/// # Errors
/// [`Code::Unavailable`] if Stripe does not answer; then it has to be applied again.
pub(crate) async fn refunded(cx: &Domain, charge: &str) -> Result<()> {
    let charge: Charge = billing::read(cx, &format!("charges/{charge}")).await?;
    take_back(cx, &charge).await
}

/// Applies a dispute, as Stripe reports it.
///
/// # Errors
/// [`Code::Unavailable`] if Stripe does not answer; then it has to be applied again.
pub(crate) async fn disputed(cx: &Domain, dispute: &str) -> Result<()> {
    let dispute: Dispute = billing::read(cx, &format!("disputes/{dispute}")).await?;
    refunded(cx, &dispute.charge).await
}

/// Withdraws the credits of a payment in proportion to its refund or dispute, but never more than the wallet has.
///
/// # Errors
/// The database's.
pub async fn take_back(cx: &Domain, charge: &Charge) -> Result<()> {
    let Some(intent) = &charge.payment_intent else { return Ok(()) };
    let (tx, now) = (cx.db.begin().await?, cx.clock.now());
    let find = credit_purchase::Entity::find_by_id(intent.clone());
    let Some(bought) = find.lock_exclusive().one(&tx).await? else { return Ok(()) };
    let due = charge.credits_taken_back(bought.credits);
    if due <= bought.withdrawn {
        return Ok(());
    }
    let mut book = store::lock(&tx, bought.user_id, now).await?;
    book.withdraw(due - bought.withdrawn);
    store::write(&tx, &mut book, Note { operation: None, reference: Some(intent) }, now).await?;
    credit_purchase::Entity::update_many()
        .col_expr(Column::Withdrawn, Expr::value(due))
        .filter(Column::PaymentIntent.eq(intent))
        .exec(&tx)
        .await?;
    tx.commit().await?;
    Ok(())
}
