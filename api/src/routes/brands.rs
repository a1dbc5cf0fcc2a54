//! Routes of brands.

use super::parts::reads;
use crate::{Method, Query, Route, WorkspaceScope, brands};
use fanfare_core::{
    access::Scope,
    input::{CursorQuery, ListQuery},
};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/brands", "list_brands", reads(Scope::AccountsRead, WorkspaceScope::Query),
        &brands::list)
        .doc("brands", "List brands")
        .when("Use it where accounts belong to clients; not needed for a workspace without brands.")
        .core()
        .takes_query(Query::of::<ListQuery>())
        .answers(200, "The brands, oldest first."),
    Route::new(Method::Get, "/api/v1/brands/{id}", "get_brand", reads(Scope::AccountsRead, WorkspaceScope::Brand),
        &brands::get)
        .doc("brands", "Show a brand")
        .when("Use it to show one brand; its accounts and its voice are calls of their own.")
        .answers(200, "The brand."),
    Route::new(Method::Get, "/api/v1/brands/{id}/accounts", "list_brand_accounts",
        reads(Scope::AccountsRead, WorkspaceScope::Brand),
        &brands::list_accounts)
        .doc("brands", "List the accounts of a brand")
        .when("Use it to find the accounts of one client; all accounts are in the list of accounts.")
        .takes_query(Query::of::<CursorQuery>())
        .shows("accounts")
        .answers(200, "The accounts, oldest first."),
    Route::new(Method::Get, "/api/v1/brands/{id}/profile", "get_brand_profile",
        reads(Scope::AccountsRead, WorkspaceScope::Brand),
        &brands::get_profile)
        .doc("brands", "Show the voice of a brand")
        .when("Use it before writing for a brand, to keep to its voice; not to change it.")
        .answers(200, "The profile."),
];
