//! Routes of feedback, questions and updates.

use super::parts::{ANY_KEY, NEW_AGENT_FEEDBACK, NEW_FEEDBACK, of_service, reads, writes};
use crate::{
    Body, Bucket, Method, Policy, Query, Route, WorkspaceScope, feedback, support, updates,
};
use fanfare_core::{
    Code,
    access::{Role, Scope},
};
use fanfare_ops::{
    feedback::{NewAgentFeedback, NewFeedback},
    support::SupportQuestion,
    updates::UpdatesQuery,
};

#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = &[
    Route::new(Method::Post, "/api/v1/feedback", "submit_product_feedback",
        of_service(writes(Scope::PostsWrite, Role::Viewer, WorkspaceScope::Home)), &feedback::submit)
        .doc("feedback", "Put a message on the public feedback board; ask the user first")
        .when("Use it when the user agreed to a public message; not for errors of your own calls.")
        .core()
        .counts_against(Bucket::Feedback)
        .takes_body(Body::of::<NewFeedback>(NEW_FEEDBACK))
        .answers(201, "The message is on the board.")
        .refuses(&[Code::ConfirmRequired]),
    Route::new(Method::Post, "/api/v1/agent-feedback", "submit_agent_feedback",
        of_service(writes(Scope::PostsWrite, Role::Viewer, WorkspaceScope::Home)), &feedback::submit_agent)
        .doc("feedback", "Tell the operators how an agent fared with a tool; nobody else sees it")
        .when("Use it when a tool failed you or helped you; not for what the user wants to say in public.")
        .core()
        .counts_against(Bucket::AgentFeedback)
        .takes_body(Body::of::<NewAgentFeedback>(NEW_AGENT_FEEDBACK))
        .answers(201, "The event is stored."),
    Route::new(Method::Post, "/api/v1/support/chat", "ask_support",
        of_service(Policy { addon: false, ..ANY_KEY }), &support::ask)
        .doc("feedback", "Ask how the service works; answers come from its documentation alone")
        .when("Use it for questions about the service; it knows nothing of your workspace.")
        .counts_against(Bucket::SupportChat)
        .takes_body(Body::of::<SupportQuestion>(r#"{"message": "How do I post at a certain time?"}"#))
        .shows("answer")
        .answers(200, "The answer."),
    Route::new(Method::Get, "/api/v1/updates", "list_updates",
        of_service(Policy { addon: false, ..reads(Scope::AccountsRead, WorkspaceScope::Query) }), &updates::list)
        .doc("updates", "List what is new in the service, newest first")
        .when("Use it to see what is new; not for the state of the service.")
        .core()
        .takes_query(Query::of::<UpdatesQuery>())
        .answers(200, "The updates.")
        .refuses(&[Code::SubscriptionRequired]),
];
