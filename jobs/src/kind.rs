use std::{fmt, str::FromStr};

use crate::{Job, for_each_kind};

macro_rules! kinds {
    ($($(#[doc = $about:literal])+ $kind:ident $name:ident $queue:ident $table:literal $shared:literal $slots:ident($most:expr);)+) => {
        $(
            $(#[doc = $about])+
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub struct $kind {
                /// The row.
                pub id: i64,
            }

            impl Job for $kind {
                const KIND: JobKind = JobKind::$kind;

                fn from_id(id: i64) -> Self {
                    Self { id }
                }

                fn id(&self) -> i64 {
                    self.id
                }
            }
        )+

        /// The kinds of work.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum JobKind {
            $($(#[doc = $about])+ $kind),+
        }

        impl JobKind {
            /// All of them, in the order of their declaration.
            pub const ALL: [Self; [$(stringify!($kind)),+].len()] = [$(Self::$kind),+];

            /// Returns the name in Redis keys and logs, such as `publish_post`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($name)),+
                }
            }

            /// Returns the queue that carries this kind of work.
            #[must_use]
            pub const fn queue(self) -> QueueName {
                match self {
                    $(Self::$kind => QueueName::$queue),+
                }
            }

            /// Returns the table whose rows are this kind of work.
            #[must_use]
            pub const fn table(self) -> &'static str {
                match self {
                    $(Self::$kind => $table),+
                }
            }

            /// Returns true if the rows belong to workspaces, which share the workers fairly.
            #[must_use]
            pub const fn is_shared(self) -> bool {
                match self {
                    $(Self::$kind => $shared),+
                }
            }

            /// Returns how many are under way at once in a process.
            #[must_use]
            pub const fn slots(self) -> Slots {
                match self {
                    $(Self::$kind => Slots::$slots($most)),+
                }
            }
        }
    };
}

for_each_kind!(kinds);

/// How many jobs of a kind are under way at once in a process, if its option allows as many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slots {
    /// At most so many.
    AtMost(usize),
    /// At most so many, and further rows are held: while one is being sent, others are claimed or have their results
    /// written.
    HeldAhead(usize),
    /// So many for two processors: the machine bounds them.
    PerTwoProcessors(usize),
}

impl Slots {
    /// The rows that a worker holds for each slot of [`Slots::HeldAhead`].
    const ROWS_HELD: usize = 4;

    /// Returns how many are under way at once where a process may have `option` of them, on so many processors.
    #[must_use]
    pub fn under_way(self, option: usize, processors: usize) -> usize {
        match self {
            Self::AtMost(most) | Self::HeldAhead(most) => option.min(most),
            Self::PerTwoProcessors(most) => option.min((most * processors).div_ceil(2)),
        }
    }

    /// Returns how many rows are held at once.
    #[must_use]
    pub fn rows(self, option: usize, processors: usize) -> usize {
        let under_way = self.under_way(option, processors);
        if matches!(self, Self::HeldAhead(_)) { under_way * Self::ROWS_HELD } else { under_way }
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
    fn the_names_of_kinds_are_those_of_the_keys_of_running_fleets() {
        let names = JobKind::ALL.map(JobKind::as_str).join(" ");
        assert_eq!(
            names,
            "publish_post deliver_webhook copy_media analyse_media convert_media clean_up keep_account send_mail \
             apply_stripe_event sync_inbox apply_inbound send_outgoing sync_business sync_analytics derive_suggestions \
             make_video copy_attachment delete_workspace"
        );
    }

    #[test]
    fn slots_are_bounded_by_the_kind_the_option_and_the_machine() {
        let rows = |kind: JobKind, option| kind.slots().rows(option, 3);
        assert_eq!(rows(JobKind::PublishPost, 256), 1_024);
        assert_eq!(rows(JobKind::DeliverWebhook, 256), 256);
        assert_eq!(rows(JobKind::CopyMedia, 256), 16);
        assert_eq!(rows(JobKind::CopyMedia, 2), 2);
        assert_eq!(rows(JobKind::AnalyseMedia, 256), 6);
        assert_eq!(rows(JobKind::ConvertMedia, 256), 2);
        assert_eq!(rows(JobKind::CleanUp, 256), 1);
    }
}
