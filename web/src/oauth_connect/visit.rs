//! Requests of users, and their responses.

use std::borrow::Cow;

use fanfare_core::{Error, WorkspaceId};
use fanfare_people::sign_in::UserSession;
use maud::Markup;
use url::Url;

use crate::browser::visit;

/// A request of a user.
pub type Visit = visit::Visit<UserSession>;

/// The response of a page.
pub enum PageResponse {
    /// A page with a title.
    Page(&'static str, Markup),
    /// The page with an error about its form.
    Invalid(&'static str, Markup, Error),
    /// A page as wide as the window, with the dashboard's script.
    Wide(&'static str, Markup),
    /// The page with an error about its form.
    WideInvalid(&'static str, Markup, Error),
    /// A wide page whose content changes by itself: it keeps up, without scripts by loading again.
    Following(&'static str, Markup),
    /// A fragment of a page, for the dashboard's script.
    Fragment(Markup),
    /// Switch to another workspace.
    SwitchWorkspace(WorkspaceId),
    /// A page that reloads itself every few seconds.
    Waiting(&'static str, Markup),
    /// A redirect.
    Redirect(String),
    /// A page that leads to a network. It is not a redirect, since `form-action` also applies to redirects after a
    /// form.
    LeaveTo(Cow<'static, str>, Url),
    /// End the session and go to the log-in.
    LogOut,
}

impl PageResponse {
    /// Returns a wide page, which keeps up while its content changes by itself.
    #[must_use]
    pub fn following(title: &'static str, main: Markup, changes: bool) -> Self {
        if changes { Self::Following(title, main) } else { Self::Wide(title, main) }
    }
}
