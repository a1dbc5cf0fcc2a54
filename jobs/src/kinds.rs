//! The kinds of work, one line each: what the rest of the code knows of a kind is in its line.
//!
//! To add one: a line here, and a file of the same name in the `workers` crate with its handler.

/// Calls a macro with the table of kinds. A line is: the payload, its name in Redis keys and logs, which is that of the
/// handler's module, its queue, the table of its rows, whether the rows belong to workspaces, which share the workers
/// fairly, and how many are under way at once in a process ([`Slots`](crate::Slots)).
///
/// The order is that of [`JobKind::ALL`](crate::JobKind::ALL), and of the queues in a [`Queue`](crate::Queue).
#[macro_export]
macro_rules! for_each_kind {
    ($call:ident) => {
        $call! {
            /// Publish one post to its account.
            PublishPost publish_post Publish "posts" true HeldAhead(usize::MAX);
            /// Deliver one event to one webhook endpoint.
            DeliverWebhook deliver_webhook Webhook "webhook_deliveries" true HeldAhead(64);
            /// Copy one media file into our own storage.
            CopyMedia copy_media Media "media_assets" true AtMost(16);
            /// Find out what is in one stored media file.
            AnalyseMedia analyse_media Analyse "media_analyses" true PerTwoProcessors(4);
            /// Make one media file that fits a network out of a stored one.
            ConvertMedia convert_media Convert "media_variants" true PerTwoProcessors(1);
            /// Run one chore: a sync, a refresh, or the deletion of old rows.
            CleanUp clean_up Upkeep "chores" false AtMost(1);
            /// Keep an account usable: refresh its tokens, warn before they expire, revoke them after a disconnect.
            KeepAccount keep_account Upkeep "accounts" true AtMost(16);
            /// Send one e-mail.
            SendMail send_mail Mail "letters" false AtMost(8);
            /// Apply one Stripe event.
            ApplyStripeEvent apply_stripe_event Billing "stripe_events" false AtMost(8);
            /// Read the inbox of one account.
            SyncInbox sync_inbox Sync "inbox_syncs" true AtMost(16);
            /// Apply an event that a network sent by webhook.
            ApplyInbound apply_inbound Sync "inbound_events" true AtMost(16);
            /// Make one change on a network that is not a post: a reply, a hide, a deletion.
            SendOutgoing send_outgoing Sync "outgoing" true AtMost(32);
            /// Read the business profile of one account.
            SyncBusiness sync_business Sync "business_profiles" true AtMost(8);
            /// Read the analytics of an account and its posts.
            SyncAnalytics sync_analytics Sync "analytics_syncs" true AtMost(16);
            /// Suggest posts for an account.
            DeriveSuggestions derive_suggestions Sync "suggestion_rounds" true AtMost(4);
            /// Take the next step of a video that a model makes.
            MakeVideo make_video Ai "ai_jobs" true AtMost(16);
            /// Copy a file that came to an inbox, or remove the copy of one that is gone.
            CopyAttachment copy_attachment Sync "inbox_files" true AtMost(8);
            /// Go on with the deletion of a workspace.
            DeleteWorkspace delete_workspace Upkeep "workspace_deletions" false AtMost(2);
        }
    };
}
