//! The e-mails that Fanfare sends.

use serde::{Deserialize, Serialize};

/// An e-mail to one user.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// The recipient's address.
    pub to: String,
    /// Subject line.
    pub subject: String,
    /// Its text.
    pub text: String,
    /// The links in it.
    pub links: Vec<String>,
}

/// Shows only the subject, since addresses and links are secret.
impl std::fmt::Debug for Letter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Letter").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl Letter {
    /// Returns the e-mail after a payment, with a link to set a first password.
    #[must_use]
    pub fn set_password(to: &str, link: &str) -> Self {
        let text = format!(
            "Your payment went through and your Fanfare account is ready.\n\n\
             Choose a password to log in:\n\n{link}\n\n\
             The link works once and expires in 24 hours. After that, ask for a new one on the log-in page.\n\n\
             If you did not sign up for Fanfare, ignore this e-mail: without the link nobody can log in.\n"
        );
        Self::linked(to, "Set your Fanfare password", text, link)
    }

    /// Returns the e-mail with a link to reset a forgotten password.
    #[must_use]
    pub fn reset_password(to: &str, link: &str) -> Self {
        let text = format!(
            "Somebody asked to reset the password of your Fanfare account.\n\n\
             Choose a new password:\n\n{link}\n\n\
             The link works once and expires in 1 hour. A new password ends every log-in of your account.\n\n\
             If it was not you, ignore this e-mail: your password stays as it is.\n"
        );
        Self::linked(to, "Reset your Fanfare password", text, link)
    }

    /// Returns the e-mail that tells a user that an app was given access to the account.
    #[must_use]
    pub fn app_authorized(to: &str, name: &str, link: &str) -> Self {
        let text = format!(
            "A tool that calls itself {name:?} was given access to your Fanfare account.\n\n\
             See what it may do, or end its access:\n\n{link}\n\n\
             If it was not you, end its access and set a new password.\n"
        );
        Self::linked(to, "A tool was given access to your Fanfare account", text, link)
    }

    /// Returns the e-mail that tells a user that an API key was created.
    #[must_use]
    pub fn api_key_created(to: &str, name: &str, link: &str) -> Self {
        let text = format!(
            "An API key with the name {name:?} was created for your Fanfare account.\n\n\
             See your keys, or revoke one:\n\n{link}\n\n\
             If it was not you, revoke it and set a new password.\n"
        );
        Self::linked(to, "An API key was created for your Fanfare account", text, link)
    }

    /// Returns the e-mail that invites a person into a workspace.
    #[must_use]
    pub fn invitation(to: &str, workspace: &str, inviter: &str, link: &str) -> Self {
        let text = format!(
            "{inviter:?} invites you to the workspace {workspace:?} on Fanfare.\n\n\
             Join it:\n\n{link}\n\n\
             The link works once and expires in 7 days.\n\n\
             If you do not know the sender, ignore this e-mail: nothing happens without the link.\n"
        );
        Self::linked(to, "You are invited to a Fanfare workspace", text, link)
    }

    /// Returns the e-mail that tells an admin that a workspace is about to be deleted: who asked for it, and until when
    /// it can be stopped.
    #[must_use]
    pub fn workspace_leaving(to: &str, workspace: &str, asked: (&str, &str), link: &str) -> Self {
        let (asker, until) = asked;
        let text = format!(
            "{asker} asked to delete the workspace {workspace:?} on Fanfare.\n\n\
             Its scheduled posts are paused, and its API keys, tools and links no longer work. On {until}, everything in \
             it is removed for good.\n\n\
             Until then an admin of the workspace can stop it in its settings:\n\n{link}\n\n\
             What its posts have made public on networks stays there.\n"
        );
        Self::linked(to, "A Fanfare workspace is about to be deleted", text, link)
    }

    fn linked(to: &str, subject: &str, text: String, link: &str) -> Self {
        Self { to: to.to_owned(), subject: subject.to_owned(), text, links: vec![link.to_owned()] }
    }
}

#[cfg(test)]
mod tests {
    use super::Letter;

    #[test]
    fn a_letter_holds_its_link_and_debug_shows_neither_link_nor_address() {
        for letter in [
            Letter::set_password("a@x.y", "l://k"),
            Letter::reset_password("a@x.y", "l://k"),
            Letter::app_authorized("a@x.y", "Tool", "l://k"),
            Letter::api_key_created("a@x.y", "a key", "l://k"),
            Letter::invitation("a@x.y", "Team", "Ada", "l://k"),
            Letter::workspace_leaving("a@x.y", "Team", ("ada@x.y", "1 May 2030"), "l://k"),
        ] {
            assert!(letter.text.contains("\n\nl://k\n\n") && letter.links == ["l://k"]);
            let shown = format!("{letter:?}");
            assert!(!shown.contains("l://k") && !shown.contains("a@x.y"), "{shown}");
        }
    }
}
