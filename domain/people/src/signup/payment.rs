//! The effects of a payment on a signup.

use fanfare_core::{
    Domain, Tx,
    error::Result,
    notices::{self, Awaited},
    user_lock,
};
use fanfare_entities::{
    SignupId, UserId, signup, signup::Column, signup::SignupStatus, user_password,
};
use fanfare_mail::Letter;
use fanfare_payments::{Checkout, CheckoutSession, Subscription};
use sea_orm::{ActiveEnum, ColumnTrait, EntityTrait, QueryFilter, QuerySelect, sea_query::Expr};
use secrecy::ExposeSecret;
use uuid::Uuid;

use super::{PAID_RETENTION, app::authorize_path, update_status};
use crate::{
    billing::{SoldPlan, give_back, plan_of, read, subscriptions},
    mail,
    sign_in::links::{self, LinkKind},
    users,
};

/// The statuses in which no payment was seen yet. A payment counts even if the signup has expired or was cancelled.
const UNPAID_STATUSES: [SignupStatus; 6] = [
    SignupStatus::Created,
    SignupStatus::CheckoutOpened,
    SignupStatus::PaymentProcessing,
    SignupStatus::Failed,
    SignupStatus::Expired,
    SignupStatus::Cancelled,
];

/// Applies Stripe's state of a checkout. It may be applied repeatedly and late. A payment for a signup that is gone is
/// given back.
///
/// # Errors
/// [`fanfare_core::Code::Unavailable`] if Stripe does not answer; then it must be applied again.
pub(crate) async fn apply(cx: &Domain, session: &CheckoutSession) -> Result<()> {
    let reference = session.client_reference_id.as_deref().and_then(|id| Uuid::parse_str(id).ok());
    let Some(id) = reference.map(SignupId) else { return Ok(()) };
    let Some(row) = signup::Entity::find_by_id(id).one(&cx.db.write).await? else {
        return undo_orphan(cx, session).await;
    };
    if is_settled(&row) {
        return Ok(());
    }
    let theirs: Option<Subscription> = match &session.subscription {
        Some(id) => Some(read(cx, &format!("subscriptions/{id}")).await?),
        None => None,
    };
    match theirs {
        Some(theirs) if session.is_paid() => {
            if !row.is_duplicate {
                settle(cx, &row, &theirs).await?;
                // Events that came before the row existed had no effect, so the subscription is read again.
                subscriptions::refresh(cx, &theirs.id).await?;
            }
            refund_duplicate(cx, id, session, &theirs.id).await
        }
        theirs => update_unpaid(cx, &row, session, theirs.as_ref()).await,
    }
}

/// Returns true if nothing is left to do about the payment of a signup.
fn is_settled(row: &signup::Model) -> bool {
    let is_refunded = row.status == SignupStatus::Completed;
    if row.is_duplicate { is_refunded } else { !UNPAID_STATUSES.contains(&row.status) }
}

/// Ends and refunds a subscription that was paid for a signup of ours that is not known any more.
async fn undo_orphan(cx: &Domain, session: &CheckoutSession) -> Result<()> {
    let is_ours = session.metadata.get(Checkout::SIGNUP) == session.client_reference_id.as_ref();
    let Some(subscription) =
        session.subscription.as_deref().filter(|_| session.is_paid() && is_ours)
    else {
        return Ok(());
    };
    let purpose = format!("checkout:{}", session.id);
    if give_back::subscription(cx, &purpose, subscription, session.invoice.as_deref()).await? {
        tracing::error!(
            checkout = session.id,
            "a signup that is not known here was paid; the payment was given back"
        );
    }
    Ok(())
}

/// Updates the status of a signup whose payment has not come.
async fn update_unpaid(
    cx: &Domain,
    row: &signup::Model,
    session: &CheckoutSession,
    theirs: Option<&Subscription>,
) -> Result<()> {
    let stripe = &crate::settings(cx).require_billing()?.stripe;
    let now = cx.clock.now();
    let is_over = stripe.time().unwrap_or(now / 1_000) >= session.expires_at;
    let is_lost = theirs
        .is_some_and(|theirs| matches!(theirs.status.as_str(), "incomplete_expired" | "canceled"));
    let to = match session.status.as_str() {
        "complete" if is_lost => SignupStatus::Failed,
        "complete" => SignupStatus::PaymentProcessing,
        "expired" if is_over => SignupStatus::Expired,
        "expired" => SignupStatus::Cancelled,
        _ => return Ok(()),
    };
    let from =
        [SignupStatus::Created, SignupStatus::CheckoutOpened, SignupStatus::PaymentProcessing];
    update_status(cx, row.id, &from, to).await?;
    Ok(())
}

/// Creates the user or finds the existing one, and starts the subscription if the user has none yet.
async fn settle(cx: &Domain, row: &signup::Model, theirs: &Subscription) -> Result<()> {
    let bought = SoldPlan { tier: row.plan_tier, api_addon: row.api_addon };
    let plan = plan_of(cx, theirs, bought).await?;
    let mut tx = Tx::begin(cx).await?;
    let now = tx.now();
    let person = users::find_or_create_paying(cx, tx.conn(), &row.email, &row.name).await?;
    user_lock::lock(tx.conn(), person).await?;
    let locked = signup::Entity::find_by_id(row.id).lock_exclusive().one(tx.conn()).await?;
    if locked.is_none_or(|row| !UNPAID_STATUSES.contains(&row.status) || row.is_duplicate) {
        return Ok(());
    }
    let has_another = match subscriptions::live(tx.conn(), person).await? {
        Some(live) => live.stripe_id != theirs.id,
        None => {
            subscriptions::begin(cx, tx.conn(), person, (plan, theirs)).await?;
            false
        }
    };
    let to = if has_another {
        SignupStatus::PaymentProcessing
    } else if has_password(&tx, person).await? {
        SignupStatus::Ready
    } else {
        write_letter(&mut tx, row, person).await?;
        SignupStatus::Paid
    };
    signup::Entity::update_many()
        .col_expr(Column::Status, Expr::value(to.to_value()))
        .col_expr(Column::UserId, Expr::value(person.0))
        .col_expr(Column::IsDuplicate, Expr::value(has_another))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .col_expr(Column::ExpiresAt, Expr::value(now + PAID_RETENTION))
        .filter(Column::Id.eq(row.id))
        .exec(tx.conn())
        .await?;
    tx.commit().await?;
    notices::announce(cx, Awaited::Signup(row.id)).await;
    Ok(())
}

async fn has_password(tx: &Tx, person: UserId) -> Result<bool> {
    Ok(user_password::Entity::find_by_id(person).one(tx.conn()).await?.is_some())
}

async fn write_letter(tx: &mut Tx, row: &signup::Model, person: UserId) -> Result<()> {
    let next = authorize_path(row).unwrap_or_else(|| links::DEFAULT_NEXT.to_owned());
    let token = links::create(tx, person, LinkKind::Set, &next).await?;
    let link = links::link_url(tx.domain(), token.expose_secret());
    let letter = Letter::set_password(&row.email, &link);
    mail::write(tx, &format!("signup:{}", row.id), &letter, person).await?;
    Ok(())
}

/// Ends and refunds the subscription of a user who had one already. Each of its calls is made once, so this may be
/// repeated.
async fn refund_duplicate(
    cx: &Domain,
    id: SignupId,
    session: &CheckoutSession,
    subscription: &str,
) -> Result<()> {
    let row = signup::Entity::find_by_id(id).one(&cx.db.write).await?;
    if row.is_none_or(|row| !row.is_duplicate || row.status != SignupStatus::PaymentProcessing) {
        return Ok(());
    }
    let purpose = format!("signup:{id}");
    give_back::subscription(cx, &purpose, subscription, session.invoice.as_deref()).await?;
    let from = [SignupStatus::PaymentProcessing];
    update_status(cx, id, &from, SignupStatus::Completed).await?;
    Ok(())
}
