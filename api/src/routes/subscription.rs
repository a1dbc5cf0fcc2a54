//! Routes of a user's subscription.

use super::parts::{REFUSED_CHANGE, billing};
use crate::{Body, Bucket, Method, Route, billing::subscription};
use fanfare_core::{Code, access::Scope};
use fanfare_people::billing::change::{Cancellation, Downgrade};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/subscription", "get_subscription", billing(Scope::BillingRead),
        &subscription::show)
        .doc("billing", "Show the key owner's subscription")
        .when("Use it to tell plan and period; not for credits, which have a wallet.")
        .counts_against(Bucket::Reads)
        .answers(200, "The subscription.")
        .refuses(&[Code::NoSubscription]),
    Route::new(Method::Post, "/api/v1/subscription/cancel", "cancel_subscription", billing(Scope::BillingWrite),
        &subscription::cancel)
        .doc("billing", "Cancel the subscription at the end of its period, or at once")
        .when("Use it when the user said so and gave a reason; a pause may be what is meant.")
        .counts_against(Bucket::Subscription)
        .takes_body(Body::of::<Cancellation>(r#"{"reason": "temporary_break", "feedback": "Back in spring"}"#))
        .answers(200, "The subscription.")
        .refuses(&[Code::InvalidReason, Code::NoSubscription, Code::InvalidTransition, Code::BillingNotConfigured, Code::BillingMisconfigured, Code::PaymentRefused,
            Code::PaymentDeclined, Code::PaymentObjectGone]),
    Route::new(Method::Post, "/api/v1/subscription/pause", "pause_subscription", billing(Scope::BillingWrite),
        &subscription::pause)
        .doc("billing", "Pause the subscription for 30 days, once in 90 days")
        .when("Use it for a break of 30 days; not within 90 days of the last one.")
        .counts_against(Bucket::Subscription)
        .answers(200, "The subscription.")
        .refuses(&[Code::PauseCooldown, Code::NoSubscription, Code::InvalidTransition, Code::BillingNotConfigured, Code::BillingMisconfigured, Code::PaymentRefused,
            Code::PaymentDeclined, Code::PaymentObjectGone]),
    Route::new(Method::Post, "/api/v1/subscription/resume", "resume_subscription", billing(Scope::BillingWrite),
        &subscription::resume)
        .doc("billing", "End the pause of the subscription")
        .when("Use it to end a pause early; a subscription that has ended is renewed on the dashboard.")
        .counts_against(Bucket::Subscription)
        .answers(200, "The subscription.")
        .refuses(REFUSED_CHANGE),
    Route::new(Method::Post, "/api/v1/subscription/downgrade", "downgrade_subscription", billing(Scope::BillingWrite),
        &subscription::downgrade)
        .doc("billing", "Move to a lower plan when the period ends, without proration")
        .when("Use it for a smaller plan from the next period on; larger plans are bought on the dashboard.")
        .counts_against(Bucket::Subscription)
        .takes_body(Body::of::<Downgrade>(r#"{"tier": "starter"}"#))
        .answers(200, "The subscription.")
        .refuses(&[Code::InvalidTier, Code::NoLowerTier, Code::NoSubscription, Code::InvalidTransition, Code::BillingNotConfigured, Code::BillingMisconfigured, Code::PaymentRefused,
            Code::PaymentDeclined, Code::PaymentObjectGone]),
];
