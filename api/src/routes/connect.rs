//! Routes of connecting accounts.

use super::parts::{CREDENTIALS, reads, writes};
use crate::{
    Body, Bucket, Method, Query, Route, WorkspaceScope, connect, discovery::WorkspaceQuery,
    wait::Wait,
};
use fanfare_core::{
    Code,
    access::{Role, Scope},
};
use fanfare_publishing::accounts::{
    ConnectRequest,
    oauth_connect::{ConnectSettingsChanges, NewConnectSession},
};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/connect", "list_connect_options", reads(Scope::AccountsRead, WorkspaceScope::Query),
        &connect::list_options)
        .doc("connect", "List how each platform is connected")
        .when("Use it to learn how platforms are connected and which are not set up; not to begin connecting.")
        .takes_query(Query::of::<WorkspaceQuery>())
        .answers(200, "The options of all platforms."),
    Route::new(Method::Get, "/api/v1/connect/settings", "get_connect_settings",
        reads(Scope::AccountsRead, WorkspaceScope::Query), &connect::get_settings)
        .doc("connect", "Show to which addresses people may be sent back, and whether links need an account")
        .when("Use it before `return_url` or `guest` of a connect session; not to see how a platform is connected.")
        .takes_query(Query::of::<WorkspaceQuery>())
        .shows("connect_settings")
        .answers(200, "The settings of the workspace."),
    Route::new(Method::Patch, "/api/v1/connect/settings", "update_connect_settings",
        writes(Scope::AccountsWrite, Role::Admin, WorkspaceScope::Body), &connect::change_settings)
        .doc("connect", "Set to which addresses people may be sent back, and whether links need an account")
        .when("Use it when a product of the user lets its own customers connect accounts; ask before `guest_links`.")
        .takes_body(Body::of::<ConnectSettingsChanges>(
            r#"{"guest_links": true, "return_urls": ["https://example.com/connected"], "app_name": "Example"}"#))
        .shows("connect_settings")
        .answers(200, "The settings of the workspace."),
    Route::new(Method::Get, "/api/v1/connect/{platform}", "get_connect_link",
        reads(Scope::AccountsRead, WorkspaceScope::Query),
        &connect::get_options)
        .doc("connect", "Show how a platform is connected")
        .when("Use it to learn whether a platform takes credentials or a browser; not to begin connecting.")
        .takes_query(Query::of::<WorkspaceQuery>())
        .answers(200, "The options.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Post, "/api/v1/connect/{platform}/credentials", "connect_with_credentials",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::Body), &connect::with_credentials)
        .doc("connect", "Connect an account with credentials, or renew them")
        .when("Use it when the user gave credentials for this; prefer a connect session where there is a browser.")
        .counts_against(Bucket::Connect)
        .takes_body(Body::of::<ConnectRequest>(CREDENTIALS))
        .answers(200, "The account is connected.")
        .refuses(&[Code::PlatformNotFound, Code::CredentialsNotSupported, Code::InvalidCredentials,
            Code::BrandRequired,
            Code::BrandNotFound, Code::AccountNotFound, Code::ConnectSessionNotFound, Code::InvalidTransition,
            Code::PlanLimit, Code::ProviderUnreachable]),
    Route::new(Method::Post, "/api/v1/connect/{platform}/sessions", "create_connect_session",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::Body), &connect::create_session)
        .doc("connect", "Make a link on which a person connects an account in a browser")
        .when("Use it to let a person connect an account, and show `connect_url`; not for platforms whose credentials you have.")
        .core()
        .takes_body(Body::of::<NewConnectSession>(r#"{"auto_start": true}"#))
        .answers(201, "The session, with the link for the person.")
        .refuses(&[Code::PlatformNotFound, Code::PlatformNotConfigured, Code::BrandRequired,
            Code::BrandNotFound]),
    Route::new(Method::Get, "/api/v1/connect/sessions/{id}", "get_connect_session",
        reads(Scope::AccountsRead, WorkspaceScope::ConnectSession), &connect::get_session)
        .doc("connect", "Show how far the person is, with a sentence to read aloud")
        .when("Use it with `wait` while a person connects an account, and tell `status_message`; not after it has ended.")
        .core()
        .takes_query(Query::of::<Wait>())
        .answers(200, "The session."),
];
