//! Decides which actions are possible with a conversation or comment now. One pure function each; everything that they
//! do not return is refused.

use fanfare_core::access::Role;
pub use fanfare_core::error::refusal::InboxAction;
use fanfare_entities::Millis;
use fanfare_platforms::InboxRules;

const HOUR: Millis = 3_600_000;

/// The time after a user's last message in which a reply is allowed, in ms.
const WINDOW: Millis = 24 * HOUR;

/// The same for replies that a human wrote, and for private replies to comments.
const LONG_WINDOW: Millis = 7 * 24 * HOUR;

/// The inputs that decide the possible actions: the caller, the account and the time.
#[derive(Debug, Clone, Copy)]
pub struct ActionContext {
    /// The caller's role.
    pub role: Role,
    /// The rules of the network; `None`: it has no inbox.
    pub rules: Option<InboxRules>,
    /// The account is connected.
    pub connected: bool,
    /// The time.
    pub now: Millis,
    /// Divides the time limits of simulated accounts.
    pub factor: f64,
}

impl ActionContext {
    fn span(&self, time: Millis) -> Millis {
        super::shortened(time, self.factor)
    }

    /// Returns the end of the time for a reply; `long` for replies that a human wrote.
    #[must_use]
    pub fn reply_until(&self, last_inbound_at: Option<Millis>, long: bool) -> Option<Millis> {
        let window = if long { LONG_WINDOW } else { WINDOW };
        last_inbound_at.map(|at| at + self.span(window))
    }

    /// Returns the actions that are possible with a conversation.
    #[must_use]
    pub fn conversation(&self, last_inbound_at: Option<Millis>, long: bool) -> Vec<InboxAction> {
        let Some(rules) = self.rules.filter(|_| self.connected) else { return Vec::new() };
        let open = self.reply_until(last_inbound_at, long).is_some_and(|until| self.now < until);
        let may = rules.messages && open && self.role >= Role::Editor;
        if may { vec![InboxAction::Reply] } else { Vec::new() }
    }

    /// Returns the actions that are possible with a comment.
    #[must_use]
    pub fn comment(&self, comment: &CommentState) -> Vec<InboxAction> {
        let Some(rules) = self.rules.filter(|_| self.connected) else { return Vec::new() };
        if comment.deleted || !comment.known {
            return Vec::new();
        }
        let editor = self.role >= Role::Editor;
        let hides = !comment.own && (!comment.is_reply || !rules.hides_top_level_only);
        let private = rules.private_replies
            && !comment.own
            && !comment.private_replied
            && self.private_reply_until(comment).is_some_and(|until| self.now < until);
        [
            (InboxAction::Reply, editor && !comment.hidden),
            (InboxAction::Hide, editor && hides && !comment.hidden),
            (InboxAction::Unhide, editor && hides && comment.hidden),
            (InboxAction::Delete, rules.deletes && self.role >= Role::Admin),
            (InboxAction::PrivateReply, editor && private && !comment.hidden),
        ]
        .into_iter()
        .filter_map(|(can, allowed)| allowed.then_some(can))
        .collect()
    }

    /// Returns the end of the time for a private reply to a comment; `None` if there is none.
    #[must_use]
    pub fn private_reply_until(&self, comment: &CommentState) -> Option<Millis> {
        let rules = self.rules.filter(|rules| rules.private_replies && !comment.own)?;
        let _ = rules;
        (!comment.private_replied).then(|| comment.at + self.span(LONG_WINDOW))
    }
}

/// The inputs that decide the possible actions with a comment.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct CommentState {
    /// The account wrote it.
    pub own: bool,
    /// The network's id for it is known.
    pub known: bool,
    /// It is hidden.
    pub hidden: bool,
    /// It is deleted.
    pub deleted: bool,
    /// It is a reply to another comment.
    pub is_reply: bool,
    /// The private reply to it was already sent.
    pub private_replied: bool,
    /// The time at which it was written.
    pub at: Millis,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(role: Role, platform: fanfare_platforms::PlatformId) -> ActionContext {
        let inbox = fanfare_platforms::find(platform).inbox();
        let rules = inbox.map(|inbox| inbox.rules());
        ActionContext { role, rules, connected: true, now: 100 * HOUR, factor: 1.0 }
    }

    const COMMENT: CommentState = CommentState {
        own: false,
        known: true,
        hidden: false,
        deleted: false,
        is_reply: false,
        private_replied: false,
        at: 99 * HOUR,
    };

    #[test]
    fn a_conversation_is_open_for_a_day_and_for_people_for_a_week() {
        let ask = asking(Role::Editor, "facebook".parse().unwrap());
        let at = |hours: i64| Some((100 - hours) * HOUR);
        assert_eq!(ask.conversation(at(23), false), [InboxAction::Reply]);
        assert_eq!(ask.conversation(at(24), false), []);
        assert_eq!(ask.conversation(at(24), true), [InboxAction::Reply]);
        assert_eq!(ask.conversation(at(7 * 24), true), []);
        assert_eq!(ask.conversation(None, true), []);
        let viewer = ActionContext { role: Role::Viewer, ..ask };
        assert_eq!(viewer.conversation(at(1), false), []);
        assert_eq!(ActionContext { connected: false, ..ask }.conversation(at(1), false), []);
        assert_eq!(ActionContext { factor: 24.0, ..ask }.conversation(at(1), false), []);
    }

    #[test]
    fn each_network_has_its_own_ways_with_comments() {
        use InboxAction::{Delete, Hide, PrivateReply, Reply, Unhide};
        let can = |platform: &str, role, comment| {
            asking(role, platform.parse().unwrap()).comment(&comment)
        };
        assert_eq!(can("facebook", Role::Admin, COMMENT), [Reply, Hide, Delete]);
        assert_eq!(can("instagram", Role::Admin, COMMENT), [Reply, Hide, Delete, PrivateReply]);
        assert_eq!(can("threads", Role::Admin, COMMENT), [Reply, Hide]);
        assert_eq!(can("instagram", Role::Editor, COMMENT), [Reply, Hide, PrivateReply]);
        assert_eq!(can("instagram", Role::Viewer, COMMENT), []);
        let hidden = CommentState { hidden: true, ..COMMENT };
        assert_eq!(can("instagram", Role::Admin, hidden), [Unhide, Delete]);
        let reply = CommentState { is_reply: true, ..COMMENT };
        assert_eq!(can("threads", Role::Admin, reply), [Reply]);
        assert_eq!(can("facebook", Role::Editor, reply), [Reply, Hide]);
        let own = CommentState { own: true, ..COMMENT };
        assert_eq!(can("instagram", Role::Admin, own), [Reply, Delete]);
        let used = CommentState { private_replied: true, ..COMMENT };
        assert_eq!(can("instagram", Role::Editor, used), [Reply, Hide]);
        assert_eq!(can("facebook", Role::Admin, CommentState { deleted: true, ..COMMENT }), []);
        assert_eq!(can("facebook", Role::Admin, CommentState { known: false, ..COMMENT }), []);
        assert_eq!(can("bluesky", Role::Admin, COMMENT), []);
    }
}
