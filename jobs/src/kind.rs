use std::{fmt, str::FromStr};

/// The kinds of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobKind {
    /// Publish a post: [`PublishPost`](crate::PublishPost).
    PublishPost,
    /// Deliver a webhook: [`DeliverWebhook`](crate::DeliverWebhook).
    DeliverWebhook,
    /// Copy a media file: [`CopyMedia`](crate::CopyMedia).
    CopyMedia,
    /// Find out what is in a media file: [`AnalyseMedia`](crate::AnalyseMedia).
    AnalyseMedia,
    /// Make a media file that fits a network: [`ConvertMedia`](crate::ConvertMedia).
    ConvertMedia,
    /// Run a chore: [`CleanUp`](crate::CleanUp).
    CleanUp,
    /// Keep an account usable: [`KeepAccount`](crate::KeepAccount).
    KeepAccount,
    /// Send a letter: [`SendMail`](crate::SendMail).
    SendMail,
    /// Apply a Stripe event: [`ApplyStripeEvent`](crate::ApplyStripeEvent).
    ApplyStripeEvent,
    /// Read the inbox of an account: [`SyncInbox`](crate::SyncInbox).
    SyncInbox,
    /// Apply an event that a network sent by webhook: [`ApplyInbound`](crate::ApplyInbound).
    ApplyInbound,
    /// Make one change on a network: [`SendOutgoing`](crate::SendOutgoing).
    SendOutgoing,
    /// Read the business profile of an account: [`SyncBusiness`](crate::SyncBusiness).
    SyncBusiness,
    /// Read the analytics of an account: [`SyncAnalytics`](crate::SyncAnalytics).
    SyncAnalytics,
    /// Suggest posts: [`DeriveSuggestions`](crate::DeriveSuggestions).
    DeriveSuggestions,
    /// Make a video: [`MakeVideo`](crate::MakeVideo).
    MakeVideo,
    /// Copy a file that came to an inbox: [`CopyAttachment`](crate::CopyAttachment).
    CopyAttachment,
    /// Go on with the deletion of a workspace: [`DeleteWorkspace`](crate::DeleteWorkspace).
    DeleteWorkspace,
}

impl JobKind {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 18] = [
        Self::PublishPost,
        Self::DeliverWebhook,
        Self::CopyMedia,
        Self::AnalyseMedia,
        Self::ConvertMedia,
        Self::CleanUp,
        Self::KeepAccount,
        Self::SendMail,
        Self::ApplyStripeEvent,
        Self::SyncInbox,
        Self::ApplyInbound,
        Self::SendOutgoing,
        Self::SyncBusiness,
        Self::SyncAnalytics,
        Self::DeriveSuggestions,
        Self::MakeVideo,
        Self::CopyAttachment,
        Self::DeleteWorkspace,
    ];

    /// Returns the name in Redis keys and logs, such as `publish_post`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PublishPost => "publish_post",
            Self::DeliverWebhook => "deliver_webhook",
            Self::CopyMedia => "copy_media",
            Self::AnalyseMedia => "analyse_media",
            Self::ConvertMedia => "convert_media",
            Self::CleanUp => "clean_up",
            Self::KeepAccount => "keep_account",
            Self::SendMail => "send_mail",
            Self::ApplyStripeEvent => "apply_stripe_event",
            Self::SyncInbox => "sync_inbox",
            Self::ApplyInbound => "apply_inbound",
            Self::SendOutgoing => "send_outgoing",
            Self::SyncBusiness => "sync_business",
            Self::SyncAnalytics => "sync_analytics",
            Self::DeriveSuggestions => "derive_suggestions",
            Self::MakeVideo => "make_video",
            Self::CopyAttachment => "copy_attachment",
            Self::DeleteWorkspace => "delete_workspace",
        }
    }

    /// Returns the queue that carries this kind of work.
    pub const fn queue(self) -> QueueName {
        match self {
            Self::PublishPost => QueueName::Publish,
            Self::DeliverWebhook => QueueName::Webhook,
            Self::CopyMedia => QueueName::Media,
            Self::AnalyseMedia => QueueName::Analyse,
            Self::ConvertMedia => QueueName::Convert,
            Self::CleanUp | Self::KeepAccount | Self::DeleteWorkspace => QueueName::Upkeep,
            Self::SendMail => QueueName::Mail,
            Self::ApplyStripeEvent => QueueName::Billing,
            Self::SyncInbox | Self::ApplyInbound | Self::SendOutgoing | Self::SyncBusiness => {
                QueueName::Sync
            }
            Self::SyncAnalytics | Self::DeriveSuggestions | Self::CopyAttachment => QueueName::Sync,
            Self::MakeVideo => QueueName::Ai,
        }
    }
}

/// The queues that an operator names for a worker process: `worker --queues publish,webhook`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueueName {
    /// Publishing posts.
    Publish,
    /// Delivering webhooks.
    Webhook,
    /// Copying media.
    Media,
    /// Finding out what is in media files.
    Analyse,
    /// Making media fit a network: what takes processor time.
    Convert,
    /// Housekeeping: chores, the upkeep of accounts, and the deletion of workspaces.
    Upkeep,
    /// Sending letters.
    Mail,
    /// Applying Stripe's events.
    Billing,
    /// Reading inboxes, business profiles and analytics from networks, the work that follows from it, and changes on
    /// networks that are not posts.
    Sync,
    /// Making videos with models.
    Ai,
}

impl QueueName {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 10] = [
        Self::Publish,
        Self::Webhook,
        Self::Media,
        Self::Analyse,
        Self::Convert,
        Self::Upkeep,
        Self::Mail,
        Self::Billing,
        Self::Sync,
        Self::Ai,
    ];

    /// Returns the name on the command line, such as `publish`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Webhook => "webhook",
            Self::Media => "media",
            Self::Analyse => "analyse",
            Self::Convert => "convert",
            Self::Upkeep => "upkeep",
            Self::Mail => "mail",
            Self::Billing => "billing",
            Self::Sync => "sync",
            Self::Ai => "ai",
        }
    }
}

/// The error for an unknown name; its text lists the known names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{name}`; known are {}", .known.join(", "))]
pub struct UnknownName {
    what: &'static str,
    name: String,
    known: Vec<&'static str>,
}

impl FromStr for JobKind {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name).ok_or_else(|| UnknownName {
            what: "kind of work",
            name: name.to_owned(),
            known: Self::ALL.map(Self::as_str).to_vec(),
        })
    }
}

impl FromStr for QueueName {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|queue| queue.as_str() == name).ok_or_else(|| UnknownName {
            what: "queue",
            name: name.to_owned(),
            known: Self::ALL.map(Self::as_str).to_vec(),
        })
    }
}

impl fmt::Display for JobKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AnalyseMedia, ApplyInbound, ApplyStripeEvent, CleanUp, ConvertMedia, CopyAttachment,
        CopyMedia, DeleteWorkspace, DeliverWebhook, DeriveSuggestions, Job, KeepAccount, MakeVideo, PublishPost,
        SendMail, SendOutgoing, SyncAnalytics, SyncBusiness, SyncInbox,
    };

    #[test]
    fn every_name_reads_back_to_what_it_names() {
        for (position, kind) in JobKind::ALL.into_iter().enumerate() {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(kind as usize, position, "`Queue` keeps its queues in this order");
        }
        for queue in QueueName::ALL {
            assert_eq!(queue.as_str().parse(), Ok(queue));
            assert!(JobKind::ALL.into_iter().any(|kind| kind.queue() == queue), "{queue} has work");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "publsh".parse::<QueueName>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown queue `publsh`; known are publish, webhook, media, analyse, convert, upkeep, mail, billing, sync, ai"
        );
        assert!("Publish".parse::<QueueName>().is_err());
        assert!("".parse::<JobKind>().is_err());
    }

    #[test]
    fn each_payload_has_its_own_kind_and_keeps_its_id() {
        fn check<J: Job>() -> JobKind {
            assert_eq!(J::from_id(-7).id(), -7);
            J::KIND
        }
        let kinds = [
            check::<PublishPost>(),
            check::<DeliverWebhook>(),
            check::<CopyMedia>(),
            check::<AnalyseMedia>(),
            check::<ConvertMedia>(),
            check::<CleanUp>(),
            check::<KeepAccount>(),
            check::<SendMail>(),
            check::<ApplyStripeEvent>(),
            check::<SyncInbox>(),
            check::<ApplyInbound>(),
            check::<SendOutgoing>(),
            check::<SyncBusiness>(),
            check::<SyncAnalytics>(),
            check::<DeriveSuggestions>(),
            check::<MakeVideo>(),
            check::<CopyAttachment>(),
            check::<DeleteWorkspace>(),
        ];
        assert_eq!(kinds, JobKind::ALL);
    }
}
