//! Routes of OAuth clients and grants.

use super::parts::{api_key_only, of_person};
use crate::{Body, Method, Route, oauth::apps};
use fanfare_core::{Code, access::Scope};
use fanfare_people::oauth_provider::{AppChanges, NewApp};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/oauth/clients", "list_oauth_clients",
        of_person(api_key_only(Scope::AccountsRead)),
        &apps::list_clients)
        .doc("oauth clients", "List your OAuth apps")
        .when("Use it to see your own apps; the tools that you let in are grants.")
        .answers(200, "The apps, oldest first."),
    Route::new(Method::Post, "/api/v1/oauth/clients", "create_oauth_client",
        of_person(api_key_only(Scope::AccountsWrite)),
        &apps::create_client)
        .doc("oauth clients", "Create an OAuth app: a public client with PKCE, without a secret")
        .when("Use it to build a tool that acts for other people; your own program needs only a key.")
        .takes_body(Body::of::<NewApp>(r#"{"client_name": "My tool", "allowed_redirect_uris": ["https://example.com/callback"]}"#))
        .answers(201, "The app.")
        .refuses(&[Code::ClientLimit]),
    Route::new(Method::Patch, "/api/v1/oauth/clients/{client_id}", "update_oauth_client",
        of_person(api_key_only(Scope::AccountsWrite)),
        &apps::update_client)
        .doc("oauth clients", "Change an OAuth app")
        .when("Use it to change an app's addresses or scopes; grants that there are keep theirs.")
        .takes_body(Body::of::<AppChanges>(r#"{"client_name": "My better tool"}"#))
        .answers(200, "The changed app.")
        .refuses(&[Code::ClientNotFound]),
    Route::new(Method::Delete, "/api/v1/oauth/clients/{client_id}", "delete_oauth_client",
        of_person(api_key_only(Scope::AccountsWrite)),
        &apps::delete_client)
        .doc("oauth clients", "Delete an OAuth app and end all its grants")
        .when("Use it when an app is given up; everybody who let it in loses access.")
        .answers(200, "It is deleted.")
        .refuses(&[Code::ClientNotFound]),
    Route::new(Method::Get, "/api/v1/oauth/grants", "list_oauth_grants", api_key_only(Scope::AccountsRead), &apps::list_grants)
        .doc("oauth grants", "List the tools that you let in")
        .when("Use it to see which tools may act for you; your own apps are clients.")
        .answers(200, "The grants, newest first."),
    Route::new(Method::Delete, "/api/v1/oauth/grants/{id}", "end_oauth_grant", api_key_only(Scope::AccountsWrite),
        &apps::delete_grant)
        .doc("oauth grants", "End the access of a tool; its tokens stop at once")
        .when("Use it to remove the access of a tool at once; it may ask again.")
        .answers(200, "It has ended.")
        .refuses(&[Code::GrantNotFound]),
];
