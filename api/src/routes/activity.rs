//! Routes of events and activity.

use super::parts::reads;
use crate::{Method, Query, Route, WorkspaceScope, activity};
use fanfare_core::{
    Code,
    access::Scope,
    activity::{ActivityQuery, EventsQuery},
};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Get, "/api/v1/events", "list_events",
        reads(Scope::PostsRead, WorkspaceScope::AccountFilter),
        &activity::list_events)
        .doc("activity", "Poll the event stream, oldest first")
        .when("Use it in programs that must not miss anything; agents that wait for one post read it with `wait`.")
        .takes_query(Query::of::<EventsQuery>())
        .answers(200, "Events after the one named.")
        .refuses(&[Code::SequenceUnknown]),
    Route::new(Method::Get, "/api/v1/activity", "list_activity", reads(Scope::PostsRead, WorkspaceScope::Query),
        &activity::list)
        .doc("activity", "List recent activity, newest first")
        .when("Use it to tell a person what happened; a program that must miss nothing polls events.")
        .core()
        .takes_query(Query::of::<ActivityQuery>())
        .answers(200, "A page of activity."),
    Route::new(Method::Get, "/api/v1/notifications", "list_notifications", reads(Scope::PostsRead, WorkspaceScope::Query),
        &activity::list)
        .doc("activity", "List recent activity, newest first; the same as `/activity`")
        .when("Use it in clients that know this name; it is the activity list.")
        .takes_query(Query::of::<ActivityQuery>())
        .answers(200, "A page of activity."),
];
