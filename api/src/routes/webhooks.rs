//! Routes of webhooks.

use super::parts::{NEW_WEBHOOK, reads, writes};
use crate::{
    Body, Bucket, Method, Query, Route, WorkspaceScope, discovery::WorkspaceQuery, webhooks,
};
use fanfare_core::{
    Code,
    access::{Role, Scope},
    webhooks::{NewWebhook, RedeliverFailed, WebhookChanges},
};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/webhooks", "list_webhooks", reads(Scope::PostsRead, WorkspaceScope::Query),
        &webhooks::list)
        .doc("webhooks", "List webhooks")
        .when("Use it to see who is notified of events; secrets are not shown.")
        .takes_query(Query::of::<WorkspaceQuery>())
        .answers(200, "The webhooks, newest first."),
    Route::new(Method::Post, "/api/v1/webhooks", "create_webhook",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Body), &webhooks::create)
        .doc("webhooks", "Create a webhook; its secret is shown only once")
        .when("Use it to be notified of events at an https address, and verify each as the guide `/docs/guides/webhooks` says; programs without an address poll events.")
        .takes_body(Body::of::<NewWebhook>(NEW_WEBHOOK))
        .answers(201, "The webhook with its secret.")
        .refuses(&[Code::UrlNotAllowed, Code::WebhookLimit]),
    Route::new(Method::Patch, "/api/v1/webhooks/{id}", "update_webhook",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), &webhooks::update)
        .doc("webhooks", "Change, disable or enable a webhook")
        .when("Use it to change address or events, or to enable it again; not for a new secret.")
        .takes_body(Body::of::<WebhookChanges>(r#"{"enabled": false}"#))
        .answers(200, "The changed webhook.")
        .refuses(&[Code::UrlNotAllowed]),
    Route::new(Method::Delete, "/api/v1/webhooks/{id}", "delete_webhook",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), &webhooks::delete)
        .doc("webhooks", "Delete a webhook")
        .when("Use it when an address is given up; to stop for a while, disable it.")
        .answers(200, "It is deleted."),
    Route::new(Method::Post, "/api/v1/webhooks/{id}/test", "test_webhook",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), &webhooks::test)
        .doc("webhooks", "Send a test delivery")
        .when("Use it to try a receiver; it gets `webhook.test` and nothing else.")
        .counts_against(Bucket::WebhookTests)
        .answers(202, "The delivery is on its way."),
    Route::new(Method::Get, "/api/v1/webhooks/{id}/deliveries", "list_deliveries",
        reads(Scope::PostsRead, WorkspaceScope::Webhook),
        &webhooks::list_deliveries)
        .doc("webhooks", "List the deliveries of events to your endpoint, newest first")
        .when("Use it to learn why an event did not reach your endpoint; not for the events themselves.")
        .takes_query(Query::of::<webhooks::DeliveriesQuery>())
        .answers(200, "A page of deliveries."),
    Route::new(Method::Post, "/api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver", "redeliver",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), &webhooks::redeliver)
        .doc("webhooks", "Deliver an event again")
        .when("Use it after your receiver was mended; the delivery keeps its id.")
        .answers(202, "The delivery is on its way.")
        .refuses(&[Code::DeliveryNotFound]),
    Route::new(Method::Post, "/api/v1/webhooks/{id}/rotate-secret", "rotate_webhook_secret",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), &webhooks::rotate_secret)
        .doc("webhooks", "Rotate a webhook's secret; earlier ones stay valid for a day")
        .when("Use it for a new secret; for a day the one before signs too.")
        .answers(200, "The webhook with its new secret.")
        .refuses(&[Code::SecretLimit]),
    Route::new(Method::Delete, "/api/v1/webhooks/{id}/earlier-secrets", "delete_earlier_webhook_secrets",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), &webhooks::end_earlier_secrets)
        .doc("webhooks", "End all secrets of a webhook but the newest, at once")
        .when("Use it after a rotation, when the secret before has leaked.")
        .answers(200, "They sign no more."),
    Route::new(Method::Post, "/api/v1/webhooks/{id}/redeliver", "redeliver_failed",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), &webhooks::redeliver_failed)
        .doc("webhooks", "Deliver all failed events since a time again, oldest first, up to 1,000")
        .when("Use it after your receiver was away; each delivery keeps its id.")
        .takes_body(Body::of::<RedeliverFailed>(r#"{"since": "2026-01-31T09:00:00Z"}"#))
        .answers(202, "The deliveries are on their way.")
        .refuses(&[Code::InvalidTransition]),
];
