//! The networks Fanfare publishes on: one folder each, one list of all.
//!
//! A connector is small on purpose. It holds a descriptor (data), typed settings, the network's request and response
//! types, and one function that classifies the network's errors. It contains no retry, no rate limit, no logging, no
//! database and no clock: the workers add those for all networks. Each connector guarantees that [`Platform::publish`]
//! makes at most one remote change per call, so that after a crash it is known which calls were made.

mod abilities;
pub mod analytics;
mod article;
mod bluesky;
mod business;
mod changes;
mod devto;
mod discord;
mod docs;
mod draft;
mod error;
mod facebook;
mod google;
mod google_business;
mod graph;
mod hashnode;
mod id;
mod inbox;
mod instagram;
mod instance;
mod kept;
mod lemmy;
mod linkedin;
mod list;
mod mastodon;
pub mod oauth;
mod outcome;
mod overrides;
mod page;
mod pinterest;
mod rate_limit;
mod recent_posts;
mod remains;
mod response;
mod schema;
mod session;
mod settings;
mod slack;
mod spec;
mod telegram;
#[cfg(test)]
mod tests;
pub mod text;
mod threads;
mod tiktok;
mod usage;
mod validate;
mod video;
mod video_service;
mod visibility;
mod wordpress;
mod x;
mod youtube;

pub use abilities::{AccountFacts, AppRegistration, Tools};
pub use business::{
    BusinessProfile, ProfileFacts, RemoteMedia, RemoteReply, RemoteReview, ReviewMedia, ReviewPage,
};
pub use changes::{MessageFile, RefusalReason, RemoteChange, RemoteChanges};
pub use docs::{DocNotes, EndsBasis, Evidence, Example, SpecSource, SupportedApi};
pub use draft::{Draft, Media, MediaSource, MediaStream};
pub use error::{Effect, Error, ErrorKind, PlatformReply, Result};
pub use id::{PLANNED, Planned, UnknownPlatform};
pub use inbox::{
    Attachment, InboundEvent, InboundItem, Inbox, InboxPage, InboxRules, Person, RemoteComment,
    RemoteMessage, RemotePost,
};
pub use list::{PlatformId, all, find};
pub use outcome::{
    Candidate, Identity, Listing, PICTURE_URL, Phase, Progress, PublishedPart, PublishedPost,
    ReconcileOutcome, RecoveryClass, RefreshedTokens, Step,
};
pub use overrides::Overrides;
pub use page::PictureShrinker;
pub use rate_limit::{LimitScope, RateLimit};
pub use recent_posts::ListPage;
pub use schema::{
    ContentLimits, Description, MediaLimits, PostTypeDescription, describe, metadata_schema,
    post_types, settings_schema,
};
pub use session::{Account, Secrets, Session};
pub use settings::{clean_settings, knows_setting, warnings};
pub use spec::{
    CaptionLimits, ConnectSpec, CredentialField, DocumentRules, FrameRules, MediaRules, PostType,
    Setting, Shape, Spec, ThreadRules,
};
pub use text::Likeness;
pub use usage::{CallUsage, UsageTracker};
pub use validate::{
    Conversion, Fix, NextAction, Violation, Violations, Warning, WarningCode, conversion,
    conversions, excerpt, fix, too_many_media, validate,
};
pub use video::{VideoFormat, VideoProperties};
pub use video_service::VideoService;

use std::borrow::Cow;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use oauth::TokenRenewal;
use serde_json::Value;

/// One network. Object-safe; implementers are unit structs listed in `list.rs`.
#[async_trait]
pub trait Platform: Send + Sync {
    /// Returns the descriptor: limits, settings and ways to connect, as data.
    fn spec(&self) -> &'static Spec;

    /// Returns the descriptor of one account, where a server or a plan sets limits of its own.
    fn spec_of(&self, account: &Account) -> Spec {
        let _ = account;
        *self.spec()
    }

    /// Returns the limits on the posts of one account, whose public facts are `meta`, where the network sets numbers of
    /// its own for accounts.
    fn rate_limits(&self, meta: &Value) -> Cow<'static, [RateLimit]> {
        let _ = meta;
        Cow::Borrowed(self.spec().rate_limits)
    }

    /// Returns warnings for the author of an accepted post: a setting without effect, a file that is left out. Shown in
    /// the reply that accepts it. [`warnings`] adds those that apply to every network.
    fn warnings(&self, draft: &Draft) -> Vec<Warning> {
        let _ = draft;
        Vec::new()
    }

    /// Returns true if the post carries the network's label for AI-made content, or if the network has no such label.
    /// The default checks the shared setting.
    fn is_ai_labelled(&self, draft: &Draft) -> bool {
        !self.spec().ai_label || settings::is_ai_generated(draft)
    }

    /// Returns the length of the caption as this network counts it; the default uses the descriptor's counting
    /// function.
    fn caption_length(&self, draft: &Draft) -> usize {
        (self.spec().caption.count)(&draft.caption)
    }

    /// Returns true if the settings alone make a post, without text and media (a poll).
    fn settings_suffice(&self, draft: &Draft) -> bool {
        let _ = draft;
        false
    }

    /// Checks the rules that the descriptor cannot express as data. Pure; called after the descriptor's own rules.
    fn check(&self, draft: &Draft) -> Vec<Violation> {
        let _ = draft;
        Vec::new()
    }

    /// Returns the reason why a known account cannot be posted to at all.
    fn account_violation(&self, account: &Account) -> Option<Violation> {
        let _ = account;
        None
    }

    /// Returns the recovery class of this post on this account: how to find out what became of a commit whose response
    /// was lost.
    fn recovery_class(&self, account: &Account, draft: &Draft) -> RecoveryClass {
        let _ = (account, draft);
        self.spec().recovery_class
    }

    /// Returns true if the network is known to answer that it does not find what is there, a moment later found.
    fn finds_late(&self) -> bool {
        false
    }

    /// Returns true if the network blocks the address of the service, and so all of its accounts, for what one sends.
    fn blocks_addresses(&self) -> bool {
        false
    }

    /// Returns the app that posts for this account, where accounts bring their own; `None` means this service's app.
    /// Limits per app are counted by this value.
    fn app(&self, account: &Account) -> Option<String> {
        let _ = account;
        None
    }

    /// Returns the step that the next call of [`Platform::publish`] with this state will take. Pure, so that the worker
    /// can record that it is sending before it sends.
    fn step(&self, draft: &Draft, state: Option<&Value>) -> Step;

    /// Takes the post one step further; makes at most one remote change.
    ///
    /// # Errors
    /// [`Error`] with a [`ErrorKind`] that says whether to retry, to wait, to reconnect or to stop.
    async fn publish(
        &self,
        session: &Session,
        draft: &Draft,
        state: Option<Value>,
    ) -> Result<Progress>;

    /// Returns the number of videos that the account may still send, where its network says so.
    ///
    /// # Errors
    /// Like [`Platform::publish`].
    async fn videos_left(&self, session: &Session) -> Result<Option<u64>> {
        let _ = session;
        Ok(None)
    }

    /// Looks for the result of the commit described by `state`, whose response was lost after `sent_at`. Reads only. What
    /// is listed may be the result of another call; the worker knows which are.
    ///
    /// # Errors
    /// Any error means "not known yet"; the worker asks again for a while.
    async fn reconcile(
        &self,
        session: &Session,
        draft: &Draft,
        state: Option<Value>,
        sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        let _ = (session, draft, state, sent_at);
        Ok(ReconcileOutcome::Unknown)
    }

    /// Returns the parts of a post that this state says are public, in their order: what went out of a post that failed
    /// before its end.
    fn public_parts(&self, draft: &Draft, state: &Value) -> Vec<PublishedPart> {
        let _ = (draft, state);
        Vec::new()
    }

    /// Returns the account that the credentials in `session.secrets` belong to.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidCredentials`] when the network refuses them, [`ErrorKind::Unreachable`] when it cannot be asked.
    async fn verify(&self, session: &Session) -> Result<Identity>;

    /// Returns the reader of its accounts' public facts, if they have any that change.
    fn account_facts(&self) -> Option<&dyn AccountFacts> {
        None
    }

    /// Returns the inbox of its accounts, if messages or comments can be read and answered.
    fn inbox(&self) -> Option<&dyn Inbox> {
        None
    }

    /// Returns the business profile of its accounts, if they have one.
    fn business_profile(&self) -> Option<&dyn BusinessProfile> {
        None
    }

    /// Returns the reader of the network's metrics, if it has any.
    fn analytics(&self) -> Option<&'static dyn analytics::Analytics> {
        None
    }

    /// Returns the runner of the descriptor's helper tools, if it lists any.
    fn tools(&self) -> Option<&dyn Tools> {
        None
    }

    /// Returns the registration with accounts' own servers, where each server keeps its own list of apps; `None` means
    /// that the operator registers one app with the network.
    fn app_registration(&self) -> Option<&dyn AppRegistration> {
        None
    }

    /// Returns the accounts that fresh tokens give access to (pages, channels, locations), for the user to choose from.
    /// Each has its own secrets.
    ///
    /// # Errors
    /// Like [`Platform::verify`], whose one account is the default.
    async fn identities(&self, session: &Session) -> Result<Vec<Identity>> {
        Ok(vec![self.verify(session).await?])
    }

    /// Returns true if [`Platform::refresh`] can exchange tokens like these for fresh ones, so that an expiring token
    /// is no reason to connect again.
    fn can_refresh(&self, secrets: &Secrets) -> bool {
        match self.spec().connect {
            ConnectSpec::Credentials(_) => false,
            ConnectSpec::Oauth(oauth) => match oauth.renewal {
                TokenRenewal::Never => false,
                TokenRenewal::Exchange(_) => true,
                TokenRenewal::RefreshToken { .. } => secrets.get(oauth::REFRESH_TOKEN).is_some(),
            },
        }
    }

    /// Exchanges the stored tokens for fresh ones. `None`: this account's credentials are not refreshed.
    ///
    /// # Errors
    /// [`ErrorKind::Reconnect`] only for a response like `invalid_grant`; anything else is transient.
    async fn refresh(&self, session: &Session) -> Result<Option<RefreshedTokens>> {
        match self.spec().connect {
            ConnectSpec::Credentials(_) => Ok(None),
            ConnectSpec::Oauth(oauth) => oauth::refresh_tokens(&oauth, session).await,
        }
    }

    /// Returns true if [`Platform::revoke`] can revoke tokens.
    fn can_revoke(&self) -> bool {
        matches!(self.spec().connect, ConnectSpec::Oauth(oauth) if oauth.revoke.is_some())
    }

    /// Revokes the account's tokens. Returns `false` if the network has no call for that.
    ///
    /// # Errors
    /// The network did not revoke them.
    async fn revoke(&self, session: &Session) -> Result<bool> {
        match self.spec().connect {
            ConnectSpec::Credentials(_) => Ok(false),
            ConnectSpec::Oauth(oauth) => oauth::revoke(&oauth, session).await,
        }
    }
}
