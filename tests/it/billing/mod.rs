//! Billing: everything that can be bought and changed on its page, and what each payment gives and takes.

mod commands;
mod holds;
mod page;
mod payments;

use fanfare_tests::TestApp;
use secrecy::ExposeSecret;
use serde_json::Value;

/// Calls the simulated Stripe as whoever holds its key: an operator at Stripe's own dashboard.
async fn at_stripe(app: &TestApp, path: &str, form: &[(&str, &str)]) -> Value {
    let url = app.simulator.url.join(&format!("/stripe/v1/{path}")).unwrap();
    let keys = fanfare_sandbox::stripe::Keys::of(&app.simulator.secret.clone().into());
    let request =
        fanfare_tests::local_client().post(url).bearer_auth(keys.secret_key.expose_secret());
    let reply = request.form(form).send().await.unwrap();
    let (status, text) = (reply.status(), reply.text().await.unwrap());
    assert!(status.is_success(), "{path}: {text}");
    serde_json::from_str(&text).unwrap()
}
