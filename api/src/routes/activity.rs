//! Routes of events and activity.

use super::parts::reads;
use crate::{Method, Query, Route, WorkspaceScope, activity};
use fanfare_domain::{access::Scope, activity::EventsQuery, webhooks::Page};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/events", "list_events", reads(Scope::PostsRead, WorkspaceScope::Query),
        &activity::list_events)
        .doc("activity", "Poll the event stream, oldest first")
        .asks(Query::of::<EventsQuery>())
        .answers(200, "Events after the one named."),
    Route::new(Method::Get, "/api/v1/activity", "list_activity", reads(Scope::PostsRead, WorkspaceScope::Query),
        &activity::list)
        .doc("activity", "List recent activity, newest first")
        .core()
        .asks(Query::of::<Page>())
        .answers(200, "A page of activity."),
    Route::new(Method::Get, "/api/v1/notifications", "list_notifications", reads(Scope::PostsRead, WorkspaceScope::Query),
        &activity::list)
        .doc("activity", "List recent activity, newest first; the same as `/activity`")
        .asks(Query::of::<Page>())
        .answers(200, "A page of activity."),
];
