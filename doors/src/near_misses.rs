//! Names that callers of other services send, with what stands for them here.
//!
//! A misspelt name is found by its letters (`closest_name`). These are other words for the same thing, or words for
//! something that is sent elsewhere. Only what means the same in any request has a fix; everything else has a hint.

/// What stands for a name here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    /// A field of the same object with the same value.
    Field(&'static str),
    /// A field inside an object beside it.
    Inside(&'static str),
    /// Something else; the sentence says what.
    Hint(&'static str),
}

/// A name that is not ours.
#[derive(Debug, Clone, Copy)]
pub struct NearMiss {
    /// The field that an object has in which the name is looked up; two with a `+` between them.
    pub beside: &'static str,
    /// The name.
    pub name: &'static str,
    /// What stands for it.
    pub meant: Meant,
}

macro_rules! near_misses {
    ($($beside:literal { $($($name:literal)|+ => $kind:ident $meant:literal;)+ })+) => {
        /// All of them.
        pub const NEAR_MISSES: &[NearMiss] = &[$($($(
            NearMiss { beside: $beside, name: $name, meant: Meant::$kind($meant) },
        )+)+)+];
    };
}

near_misses! {
    // New posts and changes of posts.
    "caption+post_type" {
        "text" | "body" | "message" | "content" | "post_text" | "tweet" | "copy" => Field "caption";
        "description" => Hint "The text of a post is `caption`; some networks also have settings.description.";
        "title" | "link" | "first_comment" | "privacy" | "privacy_level" | "visibility" | "board" | "board_id" | "channel"
            | "tags" | "hashtags" | "location" | "sensitive" | "spoiler_text" | "language" | "languages"
            => Hint "What only some networks have is sent inside `settings`; the account's schema lists the settings.";
        "alt" | "alt_text" | "alt_texts" | "media_alt_texts" => Hint "Alt texts are settings.media_alt_texts, a list in the order of the files.";
        "poll" => Inside "settings.poll";
        "poll_options" | "poll_duration" => Hint "A poll is settings.poll, with `options` and `duration_minutes`, where the network has polls.";
        "thread" | "threads" | "tweets" | "segments" | "chain" | "thread_posts"
            => Hint "A chain is one post with a post_type of its own and its texts in `metadata`; the account's schema shows both.";
        "x_thread_tweets" => Inside "metadata.x_thread_tweets";
        "threads_thread_posts" => Inside "metadata.threads_thread_posts";
        "media_id" | "media_ids" | "asset_id" | "asset_ids" | "file_id" | "file_ids" | "upload_id" | "upload_ids"
            => Hint "Files are named by their addresses: send the `url` of each file in `media_urls`.";
        "image" | "image_url" | "photo" | "photo_url" | "picture" | "video" | "video_url" | "file" | "file_url" | "attachment"
            => Field "media_url";
        "media" | "images" | "image_urls" | "photos" | "pictures" | "videos" | "video_urls" | "files" | "attachments"
            => Field "media_urls";
        "schedule_at" | "schedule_time" | "schedule_date" | "scheduled_for" | "scheduled_time" | "scheduled_date" | "publish_at"
            | "publish_date" | "publish_time" | "post_at" | "send_at" | "run_at" | "due_at" => Field "scheduled_at";
        "schedule" | "date" | "time" | "when" | "delay" => Hint "The time is `scheduled_at`, in RFC 3339 with an offset.";
        "now" | "publish_now" | "post_now" | "immediately" | "share_now"
            => Hint "A post without scheduled_at goes out now: leave this field out.";
        "tz" | "time_zone" | "zone" => Field "timezone";
        "type" | "kind" | "format" => Field "post_type";
        "draft" | "is_draft" | "save_as_draft" => Hint "A draft is a post with status draft.";
        "label" | "labels" | "campaign" | "campaign_id" | "batch_id" => Hint "Posts that belong together have the same `group`.";
    }
    // New posts alone.
    "account_id+caption" {
        "account_ids" | "accounts" | "profile_ids" | "social_account_ids" | "channel_ids" | "platforms" | "networks" | "channels"
            => Hint "A post goes to one account: create_posts_batch takes up to 25 posts at once, one for each account.";
        "account" | "profile_id" | "social_account_id" | "channel_id" | "integration_id" => Field "account_id";
        "network" | "provider" => Hint "The account decides where a post goes: list_accounts shows the id of each.";
        "validate_only" | "dryrun" | "preview" | "test" | "simulate" => Field "dry_run";
        "sandbox" => Hint "An account is real or simulated: create_sandbox_account makes a simulated one, and posts on it reach nobody.";
    }
    "account_id" {
        "workspace" | "team_id" | "organization_id" | "org_id" => Field "workspace_id";
    }
    // Whatever is sent.
    "" {
        "idempotency_key" | "idempotencyKey" | "request_id" => Hint "The key is a header: send `Idempotency-Key`.";
        "api_key" | "token" | "access_token" => Hint "The key is a header: send `Authorization: Bearer <key>`.";
    }
    // Webhooks.
    "url+events" {
        "callback_url" | "callback" | "endpoint" | "target_url" | "webhook_url" => Field "url";
        "event" | "event_types" | "topics" | "event_names" => Field "events";
        "active" => Field "enabled";
        "secret" => Hint "The service makes the secret; it is shown once, in the reply.";
    }
    // Answers in the inbox.
    "text+acknowledge_duplicate_risk" {
        "message" | "body" | "reply" | "caption" => Field "text";
        "image_url" | "file_url" | "attachment_url" => Field "media_url";
        "is_private" => Field "private";
    }
    // Files.
    "filename+content_type" {
        "name" | "file" => Field "filename";
        "mime" | "mime_type" | "mimetype" | "type" | "media_type" => Field "content_type";
        "bytes" | "length" | "file_size" | "content_length" => Field "size";
        "base64" | "content" | "file_base64" => Field "data";
    }
}

/// Returns what stands for `name` in an object with these fields.
#[must_use]
pub fn of(name: &str, known: &[&str]) -> Option<&'static NearMiss> {
    let has = |field: &str| known.contains(&field);
    let fits = |miss: &&NearMiss| {
        let is_here = miss.beside.is_empty() || miss.beside.split('+').all(has);
        let is_takeable = match miss.meant {
            Meant::Field(field) => has(field),
            Meant::Inside(path) => path.split_once('.').is_some_and(|(outer, _)| has(outer)),
            Meant::Hint(_) => true,
        };
        miss.name == name && is_here && is_takeable && !has(name)
    };
    NEAR_MISSES.iter().find(fits)
}

impl NearMiss {
    /// Returns the sentence that says what to do.
    #[must_use]
    pub fn hint(&self) -> String {
        match self.meant {
            Meant::Field(field) => format!("Send it as `{field}`."),
            Meant::Inside(path) => format!("Send it as `{path}`."),
            Meant::Hint(hint) => hint.to_owned(),
        }
    }
}
