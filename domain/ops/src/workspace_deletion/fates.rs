//! The list of all tables, and what becomes of the rows of each when their workspace is deleted. A table that is not in
//! it fails a test, so that a new one cannot be forgotten.

/// What becomes of the rows that belong to a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// They are deleted by their `workspace_id`.
    OfWorkspace,
    /// They are deleted with rows of another table, whose `id` the column holds.
    Under {
        /// The column.
        column: &'static str,
        /// The other table, which is deleted by its `workspace_id`.
        parent: &'static str,
    },
    /// They are secrets, and deleted before the rows that hold them; see [`SECRETS`].
    Sealed,
    /// They are replies that are kept for repeated requests, and deleted by the people of the workspace.
    Replies,
    /// They stay, for the reason given, and lose what says anything of the workspace.
    Kept {
        /// The rows. `$1` and `{id}` are the workspace; `{parents}` stands for the ids of a few rows of `parent`.
        rows: &'static str,
        /// The table that is deleted after they have been emptied, if they are found by it.
        parent: Option<&'static str>,
        /// What they lose.
        set: &'static str,
        /// The condition that there is something to lose.
        unless_empty: &'static str,
        /// Why they stay.
        why: &'static str,
    },
    /// It is the last to go.
    Last,
    /// They belong to no workspace, for the reason given.
    OfNone(&'static str),
}

/// A table and the fate of its rows.
pub type TableFate = (&'static str, Fate);

const fn under(column: &'static str, parent: &'static str) -> Fate {
    Fate::Under { column, parent }
}

/// The secrets of a workspace that rows of other tables hold; `$1` is the workspace.
pub const SECRETS: &[&str] = &[
    "SELECT secret_id FROM connect_sessions WHERE workspace_id = $1",
    "SELECT s.secret_id FROM webhook_secrets s JOIN webhooks w ON w.id = s.webhook_id WHERE w.workspace_id = $1",
];

/// The tables, in the order in which they are emptied: first what lets people and programs in, then what they made, and
/// each table before those that its rows refer to.
pub const FATES: &[TableFate] = &[
    ("idempotency_keys", Fate::Replies),
    ("secrets", Fate::Sealed),
    ("api_keys", Fate::OfWorkspace),
    ("oauth_tokens", under("grant_id", "oauth_grants")),
    ("oauth_grants", Fate::OfWorkspace),
    ("oauth_codes", Fate::OfWorkspace),
    ("invitations", Fate::OfWorkspace),
    ("connect_sessions", Fate::OfWorkspace),
    ("connect_settings", Fate::OfWorkspace),
    ("uploads", Fate::OfWorkspace),
    ("drop_sessions", Fate::OfWorkspace),
    ("brand_locks", Fate::OfWorkspace),
    ("memberships", Fate::OfWorkspace),
    ("webhook_deliveries", under("webhook_id", "webhooks")),
    ("webhook_secrets", under("webhook_id", "webhooks")),
    ("webhooks", Fate::OfWorkspace),
    ("events", Fate::OfWorkspace),
    ("ai_jobs", Fate::OfWorkspace),
    ("feedback", Fate::OfWorkspace),
    ("agent_feedback", Fate::OfWorkspace),
    ("post_suggestions", Fate::OfWorkspace),
    ("post_insights", Fate::OfWorkspace),
    ("post_readings", under("post_numbers_id", "post_numbers")),
    ("post_numbers", Fate::OfWorkspace),
    ("inbox_messages", under("conversation_id", "inbox_conversations")),
    ("inbox_conversations", Fate::OfWorkspace),
    ("inbox_comments", Fate::OfWorkspace),
    ("inbound_events", Fate::OfWorkspace),
    ("outgoing", Fate::OfWorkspace),
    ("business_media", Fate::OfWorkspace),
    ("business_reviews", Fate::OfWorkspace),
    ("business_profiles", Fate::OfWorkspace),
    ("unpaid_posts", Fate::OfWorkspace),
    ("leaving_posts", Fate::OfWorkspace),
    (
        "post_attempts",
        Fate::Kept {
            rows: "post_id IN ({parents})",
            parent: Some("posts"),
            set: "error = NULL, steps = '[]'",
            unless_empty: "(error IS NOT NULL OR CAST(steps AS TEXT) <> '[]')",
            why: "the ledger of what was sent to networks, without texts",
        },
    ),
    ("post_holds", under("post_id", "posts")),
    ("media_uses", under("post_id", "posts")),
    ("post_names", under("post_id", "posts")),
    ("post_set_targets", under("set_id", "post_sets")),
    ("post_sets", Fate::OfWorkspace),
    ("posts", Fate::OfWorkspace),
    ("media_waits", under("asset_id", "media_assets")),
    ("media_analyses", under("asset_id", "media_assets")),
    ("media_variants", under("asset_id", "media_assets")),
    ("media_assets", Fate::OfWorkspace),
    ("account_days", under("account_id", "accounts")),
    ("analytics_syncs", under("id", "accounts")),
    ("suggestion_rounds", under("id", "accounts")),
    ("performance_profiles", under("account_id", "accounts")),
    ("inbox_syncs", under("account_id", "accounts")),
    ("inbox_files", under("account_id", "accounts")),
    ("slot_grids", under("account_id", "accounts")),
    ("pauses", under("account_id", "accounts")),
    ("remote_results", under("account_id", "accounts")),
    ("accounts", Fate::OfWorkspace),
    ("brand_profiles", under("brand_id", "brands")),
    ("brands", Fate::OfWorkspace),
    (
        "credit_entries",
        Fate::Kept {
            rows: "workspace_id = $1",
            parent: None,
            set: "caller_reference = NULL",
            unless_empty: "caller_reference IS NOT NULL",
            why: "the ledger of the wallet of the person who pays, which must add up",
        },
    ),
    (
        "credit_reservations",
        Fate::Kept {
            rows: "workspace_id = $1",
            parent: None,
            set: "caller_reference = NULL",
            unless_empty: "caller_reference IS NOT NULL",
            why: "credits that are held for an operation, until it ends",
        },
    ),
    (
        "audit_entries",
        Fate::Kept {
            rows: "target = 'workspace:{id}'",
            parent: None,
            set: "details = '{}'",
            unless_empty: "action = 'brand' AND CAST(details AS TEXT) <> '{}'",
            why: "who did what; without the names of what was made",
        },
    ),
    ("subscriptions", Fate::Last),
    ("workspaces", Fate::Last),
    ("workspace_deletions", Fate::OfNone("the receipt, which stays")),
    ("api_processes", Fate::OfNone("processes of the service")),
    (
        "billing_subscriptions",
        Fate::OfNone("what a person pays, for all of the person's workspaces"),
    ),
    ("chores", Fate::OfNone("housekeeping of the service")),
    ("credit_purchases", Fate::OfNone("payments of a person")),
    ("credit_wallets", Fate::OfNone("credits of a person")),
    ("first_keys", Fate::OfNone("notes of a person's first key")),
    ("leases", Fate::OfNone("processes of the service")),
    (
        "letters",
        Fate::OfNone(
            "e-mails of people; the text is sealed, and forgotten a day after it was sent",
        ),
    ),
    ("login_attempts", Fate::OfNone("counters without names")),
    ("oauth_clients", Fate::OfNone("apps of people, which reach other workspaces too")),
    ("operator_sessions", Fate::OfNone("operators")),
    ("operators", Fate::OfNone("operators")),
    ("password_links", Fate::OfNone("people")),
    ("registered_apps", Fate::OfNone("the service's own apps on servers of networks")),
    ("samples", Fate::OfNone("counters of the service")),
    ("signups", Fate::OfNone("people")),
    ("stripe_calls", Fate::OfNone("payments of people")),
    ("stripe_events", Fate::OfNone("payments of people")),
    ("user_passwords", Fate::OfNone("people")),
    ("user_sessions", Fate::OfNone("people")),
    ("users", Fate::OfNone("people, who leave by themselves")),
    ("workers", Fate::OfNone("processes of the service")),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{FATES, Fate};

    #[test]
    fn each_table_has_one_fate_and_goes_before_what_it_hangs_on() {
        let names: BTreeSet<_> = FATES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), FATES.len(), "a table is there twice");
        let place = |name: &str| FATES.iter().position(|(other, _)| *other == name);
        for (name, fate) in FATES {
            let (Fate::Under { parent, .. } | Fate::Kept { parent: Some(parent), .. }) = fate
            else {
                continue;
            };
            let at = place(parent).filter(|at| FATES[*at].1 == Fate::OfWorkspace);
            assert!(at > place(name), "{name} is found by {parent}");
        }
    }
}
