//! Routes of the wallet.

use super::parts::wallet;
use crate::{Bucket, Method, Query, Route, billing::credits, discovery::WorkspaceQuery};
use fanfare_core::{Code, webhooks::DeliveryQuery};
use fanfare_people::credits::UsageQuery;

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/credits", "get_credits", wallet(), &credits::show)
        .doc("billing", "Show the credits of the workspace's billing owner, shared by all its members")
        .when("Use it before something that costs credits; not to learn what was spent, which the ledger shows.")
        .core()
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<WorkspaceQuery>())
        .answers(200, "The wallet.")
        .refuses(&[Code::WalletUnavailable]),
    Route::new(Method::Get, "/api/v1/credits/usage", "get_credit_usage", wallet(), &credits::usage)
        .doc("billing", "Add up what operations have cost, by workspace, key or your own `reference`")
        .when("Use it to bill customers for what they used; not for the balance, nor for single operations.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<UsageQuery>())
        .shows("usage")
        .answers(200, "The sums, the largest first.")
        .refuses(&[Code::WalletUnavailable, Code::InvalidTimestamp]),
    Route::new(Method::Get, "/api/v1/credits/ledger", "list_credit_entries", wallet(), &credits::ledger)
        .doc("billing", "List the changes of the wallet, newest first")
        .when("Use it to explain where credits went; not for the balance alone.")
        .counts_against(Bucket::Reads)
        .takes_query(Query::of::<DeliveryQuery>())
        .answers(200, "The changes.")
        .refuses(&[Code::WalletUnavailable]),
];
