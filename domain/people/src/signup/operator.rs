//! Subscriptions that an operator creates for demonstrations and tests: a whole signup, paid on the simulated Stripe.

use fanfare_core::{
    Domain,
    error::{Code, Error, Result},
};
use fanfare_entities::UserId;
use fanfare_payments::CheckoutSession;

use super::{NewSignup, SignupTier, apply, create, validate};
use crate::{
    billing::{read, subscriptions},
    users,
};

/// Signs a user up and pays, as the user would do. The e-mail with the link to set a password is sent if the user has
/// none.
///
/// # Errors
/// [`Code::BillingNotConfigured`] if payments are not simulated, [`Code::InvalidField`] if the user has a live
/// subscription.
pub async fn create_paid(
    cx: &Domain,
    email: &str,
    tier: SignupTier,
    api_addon: bool,
) -> Result<UserId> {
    let is_simulated = crate::settings(cx).require_billing()?.is_simulated;
    let simulator = cx.settings.simulator.as_ref().filter(|_| is_simulated).ok_or_else(|| {
        let message = "Subscriptions are made like this on the simulated Stripe alone.";
        Error::new(Code::BillingNotConfigured, message)
    })?;
    let name = email.split('@').next().unwrap_or_default().to_owned();
    let source = "operator".to_owned();
    let email = email.to_owned();
    let new = validate(NewSignup { email, name, tier, api_addon, source, ..NewSignup::default() })?;
    let address = new.email.clone();
    if let Ok(person) = users::by_email(cx, &address).await
        && subscriptions::live(&cx.db.write, person).await?.is_some()
    {
        let message = format!("{address} has a live subscription.");
        return Err(Error::field(Code::InvalidField, "email", message, "Cancel it first."));
    }
    let made = create(cx, new, None).await?;
    let checkout = made.row.checkout_id.unwrap_or_default();
    let base = simulator.url.as_str().trim_end_matches('/');
    let url: url::Url =
        format!("{base}/stripe/checkout/{checkout}/pay").parse().map_err(Error::internal)?;
    let http = cx.http.trusting(std::slice::from_ref(&url));
    let paid = http.post(url).bearer(&simulator.secret).send().await.map_err(Error::internal)?;
    if !paid.is_success() {
        return Err(Error::internal(format!("the simulated payment failed ({})", paid.status)));
    }
    let session: CheckoutSession = read(cx, &format!("checkout/sessions/{checkout}")).await?;
    apply(cx, &session).await?;
    users::by_email(cx, &address).await
}
