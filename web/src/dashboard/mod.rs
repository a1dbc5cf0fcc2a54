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
mod leaving;
mod marks;
pub mod menu;
mod operation;
mod page_member;
mod parts;
mod posts;
mod reviews;
mod sets;
mod settings;
mod team;
mod usage;
mod webhooks;

use fanfare_core::Domain;
use salvo::Router;

use crate::{
    oauth_connect::UserSite,
    page::{self, PageRoute, page},
};

/// Every page.
const PAGES: &[PageRoute<UserSite>] = &[
    PageRoute::get("/dashboard", page!(home::show)),
    PageRoute::post("/dashboard/workspace", page!(page_member::choose)),
    PageRoute::get("/dashboard/posts", page!(posts::show)),
    PageRoute::post("/dashboard/posts/move", page!(posts::act::move_day)),
    PageRoute::get("/dashboard/posts/new", page!(composer::show))
        .with_form(page!(composer::act))
        .max_form(composer::LARGEST),
    PageRoute::post("/dashboard/posts/new/part", page!(composer::part)).max_form(composer::LARGEST),
    PageRoute::get("/dashboard/jobs", page!(composer::jobs)),
    PageRoute::get("/dashboard/posts/{id}", page!(posts::one::show)),
    PageRoute::post("/dashboard/posts/{id}/{verb}", page!(posts::act::act)),
    PageRoute::get("/dashboard/sets/{id}", page!(sets::show)),
    PageRoute::post("/dashboard/sets/{id}/{verb}", page!(sets::act::act))
        .max_form(composer::LARGEST),
    PageRoute::get("/dashboard/accounts", page!(accounts::show)),
    PageRoute::post("/dashboard/accounts/sandbox", page!(accounts::create_sandbox)),
    PageRoute::post("/dashboard/accounts/{id}/disconnect", page!(accounts::disconnect)),
    PageRoute::get("/dashboard/api", page!(api_keys::show)).with_form(page!(api_keys::create)),
    PageRoute::post("/dashboard/api/{id}/replace", page!(api_keys::replace)),
    PageRoute::post("/dashboard/api/{id}/revoke", page!(api_keys::revoke)),
    PageRoute::get("/dashboard/apps", page!(apps::show)).with_form(page!(apps::create)),
    PageRoute::post("/dashboard/apps/own/{id}", page!(apps::update)),
    PageRoute::post("/dashboard/apps/own/{id}/delete", page!(apps::delete)),
    PageRoute::post("/dashboard/apps/{id}/end", page!(apps::end)),
    PageRoute::get("/dashboard/billing", page!(billing::show)),
    PageRoute::get("/dashboard/billing/plan", page!(billing::show_plan))
        .with_form(page!(billing::confirm_plan)),
    PageRoute::post("/dashboard/billing/portal", page!(billing::portal)),
    PageRoute::post("/dashboard/billing/credits", page!(billing::buy_credits)),
    PageRoute::post("/dashboard/billing/{verb}", page!(billing::act)),
    PageRoute::get("/dashboard/usage", page!(usage::show)),
    PageRoute::get("/dashboard/analytics", page!(analytics::show)),
    PageRoute::get("/dashboard/analytics/posts/{id}", page!(analytics::post::show)),
    PageRoute::post(
        "/dashboard/analytics/suggestions/{id}/{verb}",
        page!(analytics::suggestion::act),
    ),
    PageRoute::get("/dashboard/inbox", page!(inbox::show)),
    PageRoute::post("/dashboard/inbox/sync", page!(inbox::sync)),
    PageRoute::get("/dashboard/inbox/conversations/{id}", page!(inbox::conversation::show))
        .with_form(page!(inbox::reply::to_conversation)),
    PageRoute::get("/dashboard/inbox/comments/{id}", page!(inbox::comment::show))
        .with_form(page!(inbox::reply::to_comment)),
    PageRoute::post("/dashboard/inbox/comments/{id}/{verb}", page!(inbox::comment::act)),
    PageRoute::get("/dashboard/reviews", page!(reviews::show)),
    PageRoute::post("/dashboard/reviews/{id}", page!(reviews::reply)),
    PageRoute::post("/dashboard/reviews/{id}/delete", page!(reviews::delete)),
    PageRoute::get("/dashboard/team", page!(team::show)),
    PageRoute::post("/dashboard/team/invitations", page!(team::invite::send)),
    PageRoute::post("/dashboard/team/invitations/{id}", page!(team::invite::withdraw)),
    PageRoute::post("/dashboard/team/workspaces", page!(team::workspace::create)),
    PageRoute::post("/dashboard/team/{id}/{verb}", page!(team::act)),
    PageRoute::post("/dashboard/brands", page!(brands::create)),
    PageRoute::get("/dashboard/brands/{id}", page!(brands::show)).with_form(page!(brands::save)),
    PageRoute::get("/dashboard/webhooks", page!(webhooks::show)).with_form(page!(webhooks::create)),
    PageRoute::get("/dashboard/webhooks/{id}", page!(webhooks::deliveries)),
    PageRoute::post(
        "/dashboard/webhooks/{id}/deliveries/{delivery_id}/redeliver",
        page!(webhooks::redeliver),
    ),
    PageRoute::post("/dashboard/webhooks/{id}/{verb}", page!(webhooks::act)),
    PageRoute::get("/dashboard/settings", page!(settings::show)),
    PageRoute::post("/dashboard/settings/{part}", page!(settings::save)),
];

/// Returns the router of the pages.
pub fn router(domain: &Domain) -> Router {
    page::pages(domain, PAGES)
}
