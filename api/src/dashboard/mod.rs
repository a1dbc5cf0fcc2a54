//! The users' dashboard: pages rendered on the server, complete without scripts, behind the users' log-in.
//!
//! [`PAGES`] lists every page; `middleware/page.rs` checks requests to them.

mod accounts;
mod analytics;
mod api_keys;
mod apps;
mod billing;
mod brands;
mod choices;
mod composer;
mod confirm;
mod home;
mod inbox;
pub mod menu;
mod operation;
mod parts;
mod posts;
mod reviews;
mod seat;
mod settings;
mod team;
mod usage;
mod webhooks;

use fanfare_domain::Domain;
use salvo::Router;

use crate::{
    middleware::page::{self, Page, page},
    oauth_connect::ConnectPages,
};

/// Every page.
const PAGES: &[Page<ConnectPages>] = &[
    Page::of("/dashboard", page!(home::show)),
    Page::form("/dashboard/workspace", page!(seat::choose)),
    Page::of("/dashboard/posts", page!(posts::show)),
    Page::form("/dashboard/posts/move", page!(posts::act::move_day)),
    Page::of("/dashboard/posts/new", page!(composer::show))
        .takes(page!(composer::act))
        .up_to(composer::LARGEST),
    Page::form("/dashboard/posts/new/part", page!(composer::part)).up_to(composer::LARGEST),
    Page::of("/dashboard/jobs", page!(composer::jobs)),
    Page::of("/dashboard/posts/{id}", page!(posts::one::show)),
    Page::form("/dashboard/posts/{id}/{verb}", page!(posts::act::act)),
    Page::of("/dashboard/accounts", page!(accounts::show)),
    Page::form("/dashboard/accounts/sandbox", page!(accounts::create_sandbox)),
    Page::form("/dashboard/accounts/{id}/disconnect", page!(accounts::disconnect)),
    Page::of("/dashboard/api", page!(api_keys::show)).takes(page!(api_keys::create)),
    Page::form("/dashboard/api/{id}/replace", page!(api_keys::replace)),
    Page::form("/dashboard/api/{id}/revoke", page!(api_keys::revoke)),
    Page::of("/dashboard/apps", page!(apps::show)).takes(page!(apps::create)),
    Page::form("/dashboard/apps/own/{id}", page!(apps::update)),
    Page::form("/dashboard/apps/own/{id}/delete", page!(apps::delete)),
    Page::form("/dashboard/apps/{id}/end", page!(apps::end)),
    Page::of("/dashboard/billing", page!(billing::show)),
    Page::of("/dashboard/billing/portal", page!(billing::portal)),
    Page::of("/dashboard/billing/credits", page!(billing::credits)),
    Page::of("/dashboard/usage", page!(usage::show)),
    Page::of("/dashboard/analytics", page!(analytics::show)),
    Page::of("/dashboard/analytics/posts/{id}", page!(analytics::post::show)),
    Page::form("/dashboard/analytics/suggestions/{id}/{verb}", page!(analytics::suggestion::act)),
    Page::of("/dashboard/inbox", page!(inbox::show)),
    Page::form("/dashboard/inbox/sync", page!(inbox::sync)),
    Page::of("/dashboard/inbox/conversations/{id}", page!(inbox::conversation::show))
        .takes(page!(inbox::reply::to_conversation)),
    Page::of("/dashboard/inbox/comments/{id}", page!(inbox::comment::show))
        .takes(page!(inbox::reply::to_comment)),
    Page::form("/dashboard/inbox/comments/{id}/{verb}", page!(inbox::comment::act)),
    Page::of("/dashboard/reviews", page!(reviews::show)),
    Page::form("/dashboard/reviews/{id}", page!(reviews::reply)),
    Page::form("/dashboard/reviews/{id}/delete", page!(reviews::delete)),
    Page::of("/dashboard/team", page!(team::show)),
    Page::form("/dashboard/team/invitations", page!(team::invite::send)),
    Page::form("/dashboard/team/invitations/{id}", page!(team::invite::withdraw)),
    Page::form("/dashboard/team/workspaces", page!(team::workspace::create)),
    Page::form("/dashboard/team/{id}/{verb}", page!(team::act)),
    Page::form("/dashboard/brands", page!(brands::create)),
    Page::of("/dashboard/brands/{id}", page!(brands::show)).takes(page!(brands::save)),
    Page::of("/dashboard/webhooks", page!(webhooks::show)).takes(page!(webhooks::create)),
    Page::of("/dashboard/webhooks/{id}", page!(webhooks::deliveries)),
    Page::form(
        "/dashboard/webhooks/{id}/deliveries/{delivery_id}/redeliver",
        page!(webhooks::redeliver),
    ),
    Page::form("/dashboard/webhooks/{id}/{verb}", page!(webhooks::act)),
    Page::of("/dashboard/settings", page!(settings::show)),
    Page::form("/dashboard/settings/{part}", page!(settings::save)),
];

/// Returns the router of the pages.
pub fn router(domain: &Domain) -> Router {
    page::pages(domain, PAGES)
}
