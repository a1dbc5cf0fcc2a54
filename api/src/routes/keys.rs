//! Routes of API keys.

use super::parts::api_key_only;
use crate::{Body, Method, Route, api_keys};
use fanfare_core::{Code, access::Scope};
use fanfare_people::keys::KeyRequest;

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/keys", "list_api_keys", api_key_only(Scope::AccountsRead), &api_keys::list)
        .doc("keys", "List your API keys, by their beginnings")
        .when("Use it to find keys that nobody needs; it never shows a key.")
        .answers(200, "The keys, oldest first."),
    Route::new(Method::Post, "/api/v1/keys", "create_api_key", api_key_only(Scope::AccountsWrite), &api_keys::create)
        .doc("keys", "Create an API key; it is shown only once")
        .when("Use it to give a program its own key with few scopes; not to share one key.")
        .takes_body(Body::of::<KeyRequest>(r#"{"name": "nightly import", "scopes": ["posts:read", "posts:write"], "expires_in_days": 90}"#))
        .answers(201, "The key.")
        .refuses(&[Code::KeyLimit, Code::WorkspaceScopeMismatch, Code::WorkspaceNotFound, Code::BrandNotFound,
            Code::InsufficientWorkspacePermissions]),
    Route::new(Method::Delete, "/api/v1/keys/{id}", "revoke_api_key", api_key_only(Scope::AccountsWrite), &api_keys::delete)
        .doc("keys", "Revoke an API key, for good")
        .when("Use it when a key leaked or is no longer needed; it cannot be undone.")
        .answers(200, "It is revoked.")
        .refuses(&[Code::KeyNotFound]),
];
