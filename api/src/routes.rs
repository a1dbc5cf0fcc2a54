//! The route table of `/api/v1`: the policy, handler and documentation of every route. There is one file for each
//! chapter.

mod accounts;
mod activity;
mod ai;
mod analytics;
mod brands;
mod business;
mod connect;
mod credits;
mod discovery;
mod feedback;
mod inbox;
mod keys;
mod media;
mod oauth;
mod parts;
mod post_sets;
mod posts;
mod sandbox;
mod signup;
mod subscription;
mod webhooks;
mod workspaces;

use crate::Route;

/// The chapters, in the order of the documentation.
const CHAPTERS: &[&[Route]] = &[
    signup::ROUTES,
    subscription::ROUTES,
    feedback::ROUTES,
    credits::ROUTES,
    ai::ROUTES,
    discovery::ROUTES,
    accounts::ROUTES,
    connect::ROUTES,
    sandbox::ROUTES,
    posts::ROUTES,
    post_sets::ROUTES,
    media::ROUTES,
    brands::ROUTES,
    analytics::ROUTES,
    webhooks::ROUTES,
    keys::ROUTES,
    workspaces::ROUTES,
    oauth::ROUTES,
    activity::ROUTES,
    inbox::ROUTES,
    business::ROUTES,
];

/// The table. A route that is not in it does not exist.
pub static ROUTES: &[Route] = &joined::<{ count() }>();

/// Returns the number of routes.
const fn count() -> usize {
    let (mut count, mut chapter) = (0, 0);
    while chapter < CHAPTERS.len() {
        count += CHAPTERS[chapter].len();
        chapter += 1;
    }
    count
}

/// Joins the chapters at compile time, so that routes are `'static`.
const fn joined<const COUNT: usize>() -> [Route; COUNT] {
    let mut all = [CHAPTERS[0][0]; COUNT];
    let (mut at, mut chapter) = (0, 0);
    while chapter < CHAPTERS.len() {
        let mut place = 0;
        while place < CHAPTERS[chapter].len() {
            all[at] = CHAPTERS[chapter][place];
            (at, place) = (at + 1, place + 1);
        }
        chapter += 1;
    }
    all
}

#[cfg(test)]
mod tests;
