//! The request of a user, and its response.

use fanfare_domain::{Error, WorkspaceId, sign_in::Session};
use maud::Markup;
use url::Url;

use crate::browser::visit;

/// A request of a user.
pub type Visit = visit::Visit<Session>;

/// The response of a page.
pub enum Answer {
    /// A page with this title.
    Page(&'static str, Markup),
    /// The same with something that was wrong with a form.
    Wrong(&'static str, Markup, Error),
    /// A page as wide as the window, with the dashboard's script.
    Wide(&'static str, Markup),
    /// The same with something that was wrong with a form.
    WideWrong(&'static str, Markup, Error),
    /// A piece of a page, for the dashboard's script.
    Part(Markup),
    /// Show another workspace from now on.
    Workspace(WorkspaceId),
    /// A page that loads itself again every few seconds.
    Waiting(&'static str, Markup),
    /// Go there.
    See(String),
    /// A page that leads to a network. No redirect: browsers hold one that follows a form to the form's own site.
    Away(&'static str, Url),
    /// Go to the log-in, without one from now on.
    LogOut,
}
