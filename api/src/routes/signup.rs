//! Routes of signing up.

use super::parts::NO_KEY;
use crate::{Body, Bucket, Method, Query, Route, discovery, signup, wait::Wait};
use fanfare_core::Code;
use fanfare_people::signup::NewSignup;

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Post, "/api/v1/signup", "start_signup", NO_KEY, &discovery::whoami)
        .public(&signup::begin)
        .doc("signup", "Begin a signup: send the person to `checkout_redirect_url`, then poll `poll_url`")
        .when("Use it for a person without an account who wants one; not for somebody who can log in.")
        .core()
        .counts_against(Bucket::SignupHour)
        .takes_body(Body::of::<NewSignup>(r#"{"email": "ada@example.com", "name": "Ada", "tier": "starter", "api_addon": true}"#))
        .answers(201, "The signup has begun.")
        .refuses(&[Code::SignupClosed, Code::BillingNotConfigured, Code::BillingMisconfigured,
            Code::PaymentRefused, Code::PaymentDeclined, Code::PaymentObjectGone, Code::MailNotConfigured]),
    Route::new(Method::Get, "/api/v1/signup/sessions/{session_id}", "get_signup_session", NO_KEY,
        &discovery::whoami)
        .public(&signup::poll)
        .doc("signup", "Show how far a signup is; never a key")
        .when("Use it with `wait` while a person pays, and tell `status_message`; it never shows a key.")
        .core()
        .counts_against(Bucket::Address)
        .takes_query(Query::of::<Wait>())
        .answers(200, "The signup.")
        .refuses(&[Code::SignupSessionNotFound, Code::BillingMisconfigured, Code::PaymentRefused, Code::PaymentDeclined,
            Code::PaymentObjectGone]),
];
