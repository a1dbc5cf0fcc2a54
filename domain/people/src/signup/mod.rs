//! Signing up: a checkout, an e-mail with a link, a password, an API key.
//!
//! Until a signup is paid, no user is looked up, mailed or created, so the replies do not reveal whether an address is
//! known. The effects of a payment are decided while the user is locked (`payment.rs`), whether an event of Stripe or a
//! poll comes first.

mod app;
mod first_key;
mod operator;
mod payment;
mod view;

use fanfare_core::{
    Domain,
    access::PlanTier,
    batches,
    error::{Code, Error, Result, Violations, violation},
    input::text::{self, TextRule},
    limits::{self, Bucket},
    notices::{self, Awaited},
    token::{self, hash},
};
use fanfare_entities::{
    Millis, SignupId, UserId, signup, signup::Column, signup::SignupStatus, user,
};
use fanfare_payments::{Checkout, CheckoutSession};
use schemars::JsonSchema;
use sea_orm::{
    ActiveEnum, ActiveModelTrait, ColumnTrait, ConnectionTrait, EntityTrait, ExprTrait,
    QueryFilter, sea_query::Expr,
};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::{
    billing::{SoldPlan, call, lookup, read, subscriptions},
    mail, users,
};

pub(crate) use app::complete_for_app;
pub use first_key::first_key;
pub use operator::create_paid;
pub(crate) use payment::apply;
pub use view::{OneSignup, StartedSignup, masked};

const HOUR: Millis = 3_600_000;

/// The time for which an unpaid signup lasts, in ms.
const UNPAID_LIFETIME: Millis = 24 * HOUR;

/// The time for which a paid signup is kept for polls, in ms.
const PAID_RETENTION: Millis = 7 * 24 * HOUR;

/// The time for which a signup is kept whose payment is on its way, in ms. A bank debit takes up to 14 days, and is
/// reported as failed up to 14 days later.
const PROCESSING_RETENTION: Millis = 60 * 24 * HOUR;

/// The shortest interval at which polls ask Stripe, in ms. They ask because events may be late.
const POLL_INTERVAL: Millis = 5_000;

/// The plan that a signup is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignupTier {
    /// The smallest plan.
    #[default]
    Starter,
    /// The second plan.
    Pro,
    /// The third plan.
    PowerUser,
    /// The largest plan.
    Agency,
}

impl From<PlanTier> for SignupTier {
    fn from(tier: PlanTier) -> Self {
        match tier {
            PlanTier::Starter => Self::Starter,
            PlanTier::Pro => Self::Pro,
            PlanTier::PowerUser => Self::PowerUser,
            PlanTier::Agency => Self::Agency,
        }
    }
}

impl From<SignupTier> for PlanTier {
    fn from(tier: SignupTier) -> Self {
        match tier {
            SignupTier::Starter => Self::Starter,
            SignupTier::Pro => Self::Pro,
            SignupTier::PowerUser => Self::PowerUser,
            SignupTier::Agency => Self::Agency,
        }
    }
}

/// A request to sign up.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSignup {
    /// E-mail address of the person who will log in.
    #[schemars(length(min = 3, max = 254))]
    pub email: String,
    /// Name of the person.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// The plan.
    #[serde(default)]
    pub tier: SignupTier,
    /// Buys the API add-on too.
    #[serde(default)]
    pub api_addon: bool,
    /// The source that led the person here: letters, digits, `.`, `_` and `-`.
    #[serde(default = "api")]
    #[schemars(length(min = 1, max = 64))]
    pub source: String,
    /// The OAuth client that asks for access afterwards; requires `redirect_uri` and `code_challenge`.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub client_id: Option<String>,
    /// The address that the person is sent back to then.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    pub redirect_uri: Option<String>,
    /// The challenge of the client's verifier (PKCE).
    #[serde(default)]
    #[schemars(length(max = 128))]
    pub code_challenge: Option<String>,
    /// The method of the challenge: `S256`, also if left out.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub code_challenge_method: Option<String>,
    /// The scopes that the client asks for, separated by spaces.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub scope: Option<String>,
    /// The value that the client gets back with the answer.
    #[serde(default)]
    #[schemars(length(max = 1024))]
    pub state: Option<String>,
    /// The resource for which it asks for tokens.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    pub resource: Option<String>,
}

fn api() -> String {
    "api".to_owned()
}

/// A new signup, with its id, which is returned once and not stored.
#[derive(Debug)]
pub struct CreatedSignup {
    /// The id, the only credential.
    pub session_id: SecretString,
    /// The row.
    pub row: signup::Model,
}

/// Fails if nobody can sign up.
///
/// # Errors
/// [`Code::SignupClosed`], [`Code::BillingNotConfigured`] or [`Code::MailNotConfigured`].
pub fn require_open(cx: &Domain) -> Result<()> {
    if !crate::settings(cx).signup_open {
        let message = "Nobody signs up here: this service is invitation only.";
        return Err(Error::new(Code::SignupClosed, message));
    }
    crate::settings(cx).require_billing()?;
    mail::require_transport(cx)
}

/// Starts a signup and opens its checkout.
///
/// # Errors
/// The errors of [`require_open`], everything that is wrong with the request, [`Code::RateLimited`], or
/// [`Code::Unavailable`] if Stripe does not answer; then nothing was started.
pub async fn begin(cx: &Domain, new: NewSignup, address: &str) -> Result<CreatedSignup> {
    require_open(cx)?;
    let new = validate(new)?;
    let counted =
        [(Bucket::SignupHour, address), (Bucket::SignupDay, address), (Bucket::SignupAll, "all")];
    limits::admit_anonymous(cx, &counted).await?;
    let app = app::authorize_query(cx, &new, address).await?;
    create(cx, new, app).await
}

/// Opens the checkout of a plan for a user who has none, and returns its address. What follows is a signup's: its page,
/// its payment, its polls.
///
/// # Errors
/// [`Code::BillingNotConfigured`], [`Code::InvalidTransition`] if the user has a live subscription, or Stripe's.
pub async fn open_renewal(cx: &Domain, person: UserId, plan: SoldPlan) -> Result<String> {
    crate::settings(cx).require_billing()?;
    if subscriptions::live(&cx.db.write, person).await?.is_some() {
        let message = "You have a live subscription; change its plan in its place.";
        return Err(Error::new(Code::InvalidTransition, message));
    }
    let user = user::Entity::find_by_id(person).one(&cx.db.read).await?;
    let user = user.ok_or_else(|| Error::internal("a person who pays is gone"))?;
    let new = NewSignup {
        email: user.email,
        name: user.name,
        tier: plan.tier.into(),
        api_addon: plan.api_addon,
        source: "dashboard".to_owned(),
        ..NewSignup::default()
    };
    let made = create(cx, new, None).await?;
    made.row.checkout_url.ok_or_else(|| Error::internal("a checkout has no address"))
}

/// Opens the checkout and inserts the signup.
async fn create(cx: &Domain, new: NewSignup, app: Option<String>) -> Result<CreatedSignup> {
    let session_id = token::generate();
    let (id, now) = (SignupId::fresh(), cx.clock.now());
    let session = open_checkout(cx, id, &new, session_id.expose_secret()).await?;
    let row = signup::Model {
        id,
        token_hash: hash(session_id.expose_secret()),
        email: new.email,
        name: new.name,
        plan_tier: new.tier.into(),
        api_addon: new.api_addon,
        source: new.source,
        status: SignupStatus::Created,
        checkout_id: Some(session.id),
        checkout_url: session.url,
        user_id: None,
        is_duplicate: false,
        authorize_query: app,
        asked_at: now,
        created_at: now,
        updated_at: now,
        expires_at: now + UNPAID_LIFETIME,
    };
    let made: signup::ActiveModel = row.clone().into();
    signup::Entity::insert(made.reset_all()).exec_without_returning(&cx.db.write).await?;
    Ok(CreatedSignup { session_id, row })
}

fn validate(new: NewSignup) -> Result<NewSignup> {
    let mut broken = Violations::default();
    let email = users::normalized_email(&new.email);
    if let Err(error) = &email {
        broken.extend(error.violations().iter().cloned());
    }
    let name = new.name.trim().to_owned();
    if name.is_empty() {
        broken.push_with(|| {
            violation(Code::FieldRequired, "name", "name is empty.".to_owned(), "Send a name.")
        });
    } else if let Some(flaw) = text::problem("name", &name, TextRule::line(100)) {
        broken.push_with(|| flaw);
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if !(1..=64).contains(&new.source.len()) || !new.source.chars().all(is_plain) {
        broken.push_with(|| {
            let message = "source must be 1 to 64 letters, digits, dots, underscores and hyphens.";
            violation(
                Code::InvalidField,
                "source",
                message.to_owned(),
                "Send a name like my-agent.",
            )
        });
    }
    Error::check(broken)?;
    Ok(NewSignup { email: email?, name, ..new })
}

async fn open_checkout(
    cx: &Domain,
    id: SignupId,
    new: &NewSignup,
    session_id: &str,
) -> Result<CheckoutSession> {
    let keys = crate::settings(cx).plans.lookup_keys(new.tier.into(), new.api_addon);
    let prices = lookup(cx, &keys).await?;
    let page = page(cx, session_id);
    let checkout = Checkout {
        prices: &prices,
        email: &new.email,
        reference: &id.to_string(),
        success_url: &format!("{page}?paid=1"),
        cancel_url: &format!("{page}/cancel"),
    };
    call(cx, &format!("signup:{id}:checkout"), &checkout.request()).await
}

/// Returns the address of a signup's page.
#[must_use]
pub fn page(cx: &Domain, session_id: &str) -> String {
    format!("{}/signup/{session_id}", cx.settings.base_url)
}

/// Finds a signup by its id.
///
/// # Errors
/// [`Code::SignupSessionNotFound`].
pub async fn find(cx: &Domain, session_id: &str) -> Result<signup::Model> {
    let by_token = Column::TokenHash.eq(hash(session_id));
    let row = signup::Entity::find().filter(by_token).one(&cx.db.write).await?;
    let missing = || {
        Error::new(
            Code::SignupSessionNotFound,
            "There is no signup with this id, or it has been forgotten.",
        )
    };
    row.ok_or_else(missing)
}

/// Returns a signup. If its payment is awaited and Stripe was not asked for a while, it asks Stripe, since events may
/// be late.
///
/// # Errors
/// [`Code::SignupSessionNotFound`].
pub async fn poll(cx: &Domain, session_id: &str) -> Result<signup::Model> {
    let row = find(cx, session_id).await?;
    let now = cx.clock.now();
    let Some(checkout) = row.checkout_id.as_deref().filter(|_| awaits_payment(row.status)) else {
        return Ok(row);
    };
    let turn = signup::Entity::update_many()
        .col_expr(Column::AskedAt, Expr::value(now))
        .filter(Column::Id.eq(row.id))
        .filter(Column::AskedAt.lte(now - POLL_INTERVAL))
        .exec(&cx.db.write)
        .await?;
    if turn.rows_affected == 0 {
        return Ok(row);
    }
    match read::<CheckoutSession>(cx, &format!("checkout/sessions/{checkout}")).await {
        Ok(session) => apply(cx, &session).await?,
        // The next poll, or an event of Stripe, brings the answer.
        Err(error) => tracing::debug!(%error, "a poll could not ask Stripe"),
    }
    find(cx, session_id).await
}

const fn awaits_payment(status: SignupStatus) -> bool {
    matches!(
        status,
        SignupStatus::Created | SignupStatus::CheckoutOpened | SignupStatus::PaymentProcessing
    )
}

/// Marks the checkout as opened; returns its address.
///
/// # Errors
/// [`Code::SignupSessionNotFound`], or [`Code::InvalidTransition`] if there is nothing to pay any more.
pub async fn open(cx: &Domain, session_id: &str) -> Result<String> {
    let row = find(cx, session_id).await?;
    let is_open = matches!(row.status, SignupStatus::Created | SignupStatus::CheckoutOpened);
    let url = row.checkout_url.filter(|_| is_open).ok_or_else(|| {
        Error::new(Code::InvalidTransition, "There is nothing to pay: this signup has moved on.")
    })?;
    let from = [SignupStatus::Created];
    update_status(cx, row.id, &from, SignupStatus::CheckoutOpened).await?;
    Ok(url)
}

/// Closes the checkout, because the user went back from it.
///
/// # Errors
/// [`Code::SignupSessionNotFound`], or Stripe's.
pub async fn cancel(cx: &Domain, session_id: &str) -> Result<()> {
    let row = find(cx, session_id).await?;
    let from = [SignupStatus::Created, SignupStatus::CheckoutOpened];
    let Some(checkout) = row.checkout_id.filter(|_| from.contains(&row.status)) else {
        return Ok(());
    };
    let session: CheckoutSession = read(cx, &format!("checkout/sessions/{checkout}")).await?;
    if session.status == "open" {
        let expire =
            fanfare_payments::Request::post(format!("checkout/sessions/{checkout}/expire"));
        let closed: CheckoutSession =
            call(cx, &format!("signup:{}:expire", row.id), &expire).await?;
        return apply(cx, &closed).await;
    }
    apply(cx, &session).await
}

/// Changes the status of a signup, if it is in one of the statuses `from`, and notifies those who wait for it.
async fn update_status(
    cx: &Domain,
    id: SignupId,
    from: &[SignupStatus],
    to: SignupStatus,
) -> Result<()> {
    let moved = signup::Entity::update_many()
        .col_expr(Column::Status, Expr::value(to.to_value()))
        .col_expr(Column::UpdatedAt, Expr::value(cx.clock.now()))
        .filter(Column::Id.eq(id))
        .filter(Column::Status.is_in(from.iter().copied()))
        .exec(&cx.db.write)
        .await?;
    if moved.rows_affected == 1 {
        notices::announce(cx, Awaited::Signup(id)).await;
    }
    Ok(())
}

/// Marks the paid signups of a user as ready, because the user can log in now.
pub(crate) async fn mark_ready<C: ConnectionTrait>(
    conn: &C,
    person: UserId,
    now: Millis,
) -> Result<()> {
    update_status_of_user(conn, person, &[SignupStatus::Paid], SignupStatus::Ready, now).await
}

async fn update_status_of_user<C: ConnectionTrait>(
    conn: &C,
    person: UserId,
    from: &[SignupStatus],
    to: SignupStatus,
    now: Millis,
) -> Result<()> {
    signup::Entity::update_many()
        .col_expr(Column::Status, Expr::value(to.to_value()))
        .col_expr(Column::UpdatedAt, Expr::value(now))
        .filter(Column::UserId.eq(person))
        .filter(Column::Status.is_in(from.iter().copied()))
        .exec(conn)
        .await?;
    Ok(())
}

/// Ends signups that were not paid in time, and deletes those that ended a week ago. One whose payment is on its way has
/// not ended.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let (now, end) = (cx.clock.now(), Column::ExpiresAt);
    let unpaid = [SignupStatus::Created, SignupStatus::CheckoutOpened];
    let unpaid = Column::Status.is_in(unpaid).and(end.lte(now));
    batches::update::<signup::Entity>(cx, end, unpaid, || {
        signup::Entity::update_many()
            .col_expr(Column::Status, Expr::value(SignupStatus::Expired.to_value()))
            .col_expr(Column::UpdatedAt, Expr::value(now))
    })
    .await?;
    let has_ended = Column::UpdatedAt.lte(now - PAID_RETENTION).and(
        Column::Status
            .ne(SignupStatus::PaymentProcessing)
            .or(Column::UpdatedAt.lte(now - PROCESSING_RETENTION)),
    );
    batches::delete::<signup::Entity>(cx, end, end.lte(now).and(has_ended)).await
}
