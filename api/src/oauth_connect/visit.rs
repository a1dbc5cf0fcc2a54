//! Requests of users, and their responses.

use fanfare_domain::{Error, WorkspaceId, sign_in::Session};
use maud::Markup;
use url::Url;

use crate::browser::visit;

/// A request of a user.
pub type Visit = visit::Visit<Session>;

/// The response of a page.
pub enum Answer {
    /// A page with a title.
    Page(&'static str, Markup),
    /// The page with an error about its form.
    Wrong(&'static str, Markup, Error),
    /// A page as wide as the window, with the dashboard's script.
    Wide(&'static str, Markup),
    /// The page with an error about its form.
    WideWrong(&'static str, Markup, Error),
    /// A fragment of a page, for the dashboard's script.
    Part(Markup),
    /// Switch to another workspace.
    Workspace(WorkspaceId),
    /// A page that reloads itself every few seconds.
    Waiting(&'static str, Markup),
    /// A redirect.
    See(String),
    /// A page that leads to a network. It is not a redirect, since `form-action` also applies to redirects after a
    /// form.
    Away(&'static str, Url),
    /// End the session and go to the log-in.
    LogOut,
}
