//! Creates posts.

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result, refusal::SimilarPost, violation},
    input, limits,
};
use fanfare_entities::{AccountId, Millis, SuggestionId, account, post, post::PostStatus};
use fanfare_platforms::{self as platforms, Fix, Violations, Warning};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::{
    caption_files,
    compared::Compared,
    draft::Content,
    duplicates::Guard,
    forecast::{Forecast, forecast},
    input::{NewPost, NewStatus},
    media, media_facts, suggestion,
    view::{Checked, CreatedPost, PlannedPost, PostMedia, Reader, size},
    workspace::WorkspaceOfPost,
    write::{NewPostRow, PostWriter},
};
use crate::accounts;

/// The zone of workspaces for which nobody has chosen one.
const DEFAULT_ZONE: &str = "UTC";

/// A time that is at most this far in the past means now, in ms.
const GRACE: Millis = 60_000;

/// Creates a post, or only checks it (`dry_run`). `flaws` are the fields that could not be read.
///
/// # Errors
/// Everything that is wrong with the post, in one error; nothing is written then.
pub async fn create(act: &Act, new: NewPost, flaws: Violations) -> Result<CreateOutcome> {
    match prepare(act, new, flaws, act.cx.clock.now()).await? {
        Prepared::Checked(reply, _) => Ok(CreateOutcome::Checked(reply)),
        Prepared::Ready(row, _) => {
            let made = act.cx.feature::<PostWriter>().write(*row).await;
            if made.is_err() {
                limits::uncount_created(act).await;
            }
            made.map(CreateOutcome::Created)
        }
    }
}

/// A post before it is written.
pub(super) enum Prepared {
    /// It is only to be checked.
    Checked(Reply<DryRun>, Box<Compared>),
    /// It can be written as it is; it was counted as created.
    Ready(Box<NewPostRow>, Box<Compared>),
}

/// Does everything up to the writing of a post that was asked for at `now`.
///
/// # Errors
/// Everything that is wrong with the post, in one error.
pub(super) async fn prepare(
    act: &Act,
    new: NewPost,
    flaws: Violations,
    now: Millis,
) -> Result<Prepared> {
    let account = accounts::find(act, AccountId(new.account_id)).await?;
    let (time, broken) = parse_time(new.scheduled_at.as_deref(), new.timezone.as_deref(), now);
    let broken = with_timezone_fix(act, broken, new.scheduled_at.as_deref());
    let examined = examine(act, account, &new, (time, broken), (flaws, now)).await?;
    let workspace = WorkspaceOfPost::of(&act.membership, new.workspace_id);
    let guard = new.duplicates.unwrap_or_default();
    let mut compared = examined.compared(act, guard).await?;
    let account = examined.account.clone();
    if new.dry_run == Some(true) {
        let similar = compared.allowed(act).await?;
        let forecast = examined.forecast(act, compared.place.at, &similar).await?;
        let more = compared.warnings(act, &account, &similar);
        let reply = dry_run(act, examined, (workspace, forecast, more)).await?;
        return Ok(Prepared::Checked(reply, Box::new(compared)));
    }
    if guard == Guard::Refuse {
        // It is compared again when it is written; of a duplicate that is known now no file is copied.
        compared.allowed(act).await?;
    }
    limits::count_created(act).await?;
    let ready = async {
        let files = media::copy_remote(act, examined.content.media.clone()).await?;
        let mut ready = examined.complete(act, files, workspace).await?;
        compared.follow_copies(act, &ready.row).await?;
        ready.once = compared.once();
        let similar = if ready.once.is_none() { compared.similar(act).await? } else { Vec::new() };
        ready.warnings.extend(compared.warnings(act, &account, &similar));
        Ok(ready)
    };
    let ready: Result<NewPostRow> = ready.await;
    if ready.is_err() {
        limits::uncount_created(act).await;
    }
    Ok(Prepared::Ready(Box::new(ready?), Box::new(compared)))
}

/// A post that the network would take, as far as that is known before its files are copied.
pub(super) struct Examined {
    /// The account.
    pub account: account::Model,
    /// The content.
    pub content: Content,
    /// The row without its content.
    pub row: post::Model,
    platform: platforms::PlatformId,
    facts: platforms::Account,
    suggestion: Option<SuggestionId>,
}

/// Examines a post that was asked for at `now` for a time, of which `broken` is what is wrong with it. Nothing is
/// written or copied.
///
/// # Errors
/// Everything that is wrong with the post, in one error.
pub(super) async fn examine(
    act: &Act,
    account: account::Model,
    new: &NewPost,
    (time, mut broken): (Option<Millis>, Violations),
    (flaws, now): (Violations, Millis),
) -> Result<Examined> {
    let platform = crate::platforms::from_row(&account.platform)?;
    let suggestion = new.suggestion_id.map(SuggestionId);
    if let Some(id) = suggestion {
        suggestion::check(act, id, account.id).await?;
    }
    let is_draft = new.status == Some(NewStatus::Draft);
    let facts = accounts::facts(&account)?;
    let mut content = Content {
        caption: new.caption.clone().unwrap_or_default(),
        post_type: None,
        generic_type: None,
        settings: new.settings.clone().unwrap_or_default(),
        metadata: new.metadata.clone().unwrap_or_default(),
        media: Vec::new(),
        caption_files: Vec::new(),
    };
    content.set_type(platform, new.post_type.as_deref());
    content.tidy(platform);
    let mut urls = media::merge_urls(new.media_url.as_deref(), new.media_urls.as_deref());
    let too_many = media::reject_too_many(
        &mut urls,
        platform,
        &facts,
        (&content.post_type(platform), is_draft),
    );
    let files = look_up_files(act, &urls).await;
    content.media = files.as_ref().cloned().unwrap_or_default();
    let workspace = account.workspace_id;
    content.caption_files =
        caption_files::look_up(&act.cx, &act.cx.db.read, workspace, &content.settings).await?;
    broken.append(objections(&content, platform, &facts, is_draft, too_many).await?);
    Error::merge(flaws, Error::merge(broken, files.map(drop)))?;
    let mut row = new_row(act, &account, new, time, now);
    row.requested_post_type = content.generic_type.map(str::to_owned);
    Ok(Examined { account, content, row, platform, facts, suggestion })
}

impl Examined {
    /// Returns the forecast for it at a time, beside posts that are like it.
    ///
    /// # Errors
    /// The database's.
    pub async fn forecast(
        &self,
        act: &Act,
        at: Millis,
        similar: &[SimilarPost],
    ) -> Result<Forecast> {
        let post_type = self.content.post_type(self.platform);
        forecast(act, &self.account, (&self.content, &post_type, at), similar).await
    }

    /// Returns it as it is compared with other posts of its account.
    ///
    /// # Errors
    /// The database's.
    pub async fn compared(&self, act: &Act, guard: Guard) -> Result<Compared> {
        Compared::of(act, &self.account, (&self.content, self.row.scheduled_at), guard).await
    }

    /// Returns warnings about values that have no effect.
    ///
    /// # Errors
    /// The examination panicked.
    pub async fn warnings(&self) -> Result<Vec<Warning>> {
        let platform = self.platform;
        self.content.examine(move |content| content.warnings(platform)).await
    }

    /// Returns the row with its content, as it would be written.
    ///
    /// # Errors
    /// The content cannot be stored.
    pub fn filled(&self) -> Result<post::Model> {
        let mut row = self.row.clone();
        fill_row(&mut row, &self.content, self.platform)?;
        Ok(row)
    }

    /// Returns the row to be written, with these copies of its files.
    ///
    /// # Errors
    /// The faults of the post now that its files are known.
    pub async fn complete(
        mut self,
        act: &Act,
        files: Vec<PostMedia>,
        workspace: WorkspaceOfPost,
    ) -> Result<NewPostRow> {
        let is_draft = self.row.status == PostStatus::Draft;
        self.content.media = files;
        media_facts::refresh(&act.cx.db.read, &mut self.content.media).await?;
        Error::check(objections(&self.content, self.platform, &self.facts, is_draft, None).await?)?;
        let mut row = self.filled()?;
        if let Some(at) = row.scheduled_at.filter(|_| !is_draft) {
            let now = row.created_at;
            row.due_at = Some(self.content.due_at(self.platform, &self.facts, at, now, false));
        }
        let warnings = self.warnings().await?;
        let suggestion = self.suggestion;
        Ok(NewPostRow { act: act.clone(), row, suggestion, warnings, workspace, once: None })
    }
}

/// Returns the files at these addresses, with what is known about them.
pub(super) async fn look_up_files(act: &Act, urls: &[String]) -> Result<Vec<PostMedia>> {
    let mut files = media::look_up(act, urls).await?;
    media_facts::refresh(&act.cx.db.read, &mut files).await?;
    Ok(files)
}

/// Parses the requested time; returns it with what is wrong with it.
pub(super) fn parse_time(
    time: Option<&str>,
    timezone: Option<&str>,
    now: Millis,
) -> (Option<Millis>, Violations) {
    if let (None, Some(zone)) = (time, timezone) {
        let broken = input::zone(zone).err();
        return (None, broken.map(Error::into_violations).unwrap_or_default());
    }
    let Some(text) = time else { return (None, Violations::default()) };
    match input::time("scheduled_at", text, timezone) {
        Ok(at) if at < now - GRACE => {
            let message = format!("{text} is in the past.");
            let remedy = "Send a later time, or leave scheduled_at out to publish now.";
            let broken = violation(Code::ScheduledInPast, "scheduled_at", message, remedy);
            (Some(at), vec![broken].into())
        }
        Ok(at) => (Some(at), Violations::default()),
        Err(error) => (None, error.into_violations()),
    }
}

/// Adds a fix to the violation of a time without an offset: the zone of the workspace, if the time is in the future
/// there.
pub(super) fn with_timezone_fix(
    act: &Act,
    mut broken: Violations,
    time: Option<&str>,
) -> Violations {
    let home = &act.membership.timezone;
    if home == DEFAULT_ZONE {
        // Nobody has chosen it: the time may be meant in any zone.
        return broken;
    }
    let now = act.cx.clock.now();
    let code = Code::InvalidTimestamp.entry().code;
    for one in broken.iter_mut().filter(|one| one.code == code && one.field == "scheduled_at") {
        let at = time.and_then(|time| input::time("scheduled_at", time, Some(home)).ok());
        if at.is_some_and(|at| at >= now) {
            one.fix.push(Fix::add("timezone", home.as_str()));
        }
    }
    broken
}

/// Returns what the platform objects to. For a draft, which may be incomplete, only malformed fields and a text that is
/// too long are returned. With `too_many` files no file was examined, so there are no other violations about files.
///
/// # Errors
/// The examination panicked.
pub(super) async fn objections(
    content: &Content,
    platform: platforms::PlatformId,
    account: &platforms::Account,
    is_draft: bool,
    too_many: Option<platforms::Violation>,
) -> Result<Violations> {
    let account = account.clone();
    let mut broken = content.examine(move |content| content.violations(platform, &account)).await?;
    let form = [
        Code::UnknownField,
        Code::SettingInvalid,
        Code::CaptionTooLong,
        Code::PostTypeMismatch,
        Code::PostTypeUnsupported,
    ]
    .map(|code| code.entry().code);
    broken.retain(|violation| !is_draft || form.contains(&violation.code));
    if let Some(too_many) = too_many {
        broken.retain(|one| {
            let by_files = [Code::CaptionRequired, Code::PostTypeMismatch];
            !one.field.starts_with("media_url")
                && by_files.iter().all(|code| one.code != code.entry().code)
        });
        broken.push(too_many);
    }
    Ok(broken)
}

/// Returns the new row. Each value that is neither null nor the column's default must be among the columns that
/// `write.rs` writes.
fn new_row(
    act: &Act,
    account: &account::Model,
    new: &NewPost,
    time: Option<Millis>,
    now: Millis,
) -> post::Model {
    let is_draft = new.status == Some(NewStatus::Draft);
    post::Model {
        id: fanfare_entities::PostId(0),
        workspace_id: account.workspace_id,
        account_id: account.id,
        brand_id: account.brand_id,
        platform: account.platform.clone(),
        created_by: act.caller.user_id,
        request_id: act.request_id.clone(),
        caption: String::new(),
        post_type: String::new(),
        requested_post_type: None,
        settings: Value::Null,
        metadata: Value::Null,
        media: Value::Null,
        status: if is_draft { PostStatus::Draft } else { PostStatus::Scheduled },
        scheduled_at: if is_draft { time } else { Some(time.unwrap_or(now)) },
        timezone: new.timezone.clone(),
        group_key: new.group.clone(),
        release_id: None,
        content_key: Uuid::now_v7(),
        due_at: None,
        fencing_token: 0,
        attempts: 0,
        lease_expirations: 0,
        out_of_line: false,
        behind: false,
        state: None,
        partly_public: false,
        attempt: 0,
        steps: None,
        sending_at: None,
        sending_until: None,
        reconciling_at: None,
        absent_at: None,
        announced_fence: None,
        public_at: None,
        removed_at: None,
        platform_post_id: None,
        platform_post_url: None,
        parts: None,
        warnings: None,
        error: None,
        next_attempt_at: None,
        duplicate_risk: false,
        post_set_id: None,
        version: 1,
        created_at: now,
        updated_at: now,
    }
}

/// Puts the content into the row.
pub(super) fn fill_row(
    row: &mut post::Model,
    content: &Content,
    platform: platforms::PlatformId,
) -> Result<()> {
    row.caption.clone_from(&content.caption);
    row.post_type = content.post_type(platform);
    row.settings = Value::Object(content.settings.clone());
    row.metadata = Value::Object(content.metadata.clone());
    row.media = serde_json::to_value(&content.media).map_err(Error::internal)?;
    Ok(())
}

/// The outcome of a request to create a post.
#[derive(Debug)]
pub enum CreateOutcome {
    /// It was only checked.
    Checked(Reply<DryRun>),
    /// It was created.
    Created(Reply<CreatedPost>),
}

/// The schema of the reply to a request to create a post.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub enum CreateReply {
    /// It was created.
    Created(CreatedPost),
    /// It was only checked.
    Checked(DryRun),
}

/// A post that was only checked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DryRun {
    outcome: Checked,
    /// Always true.
    dry_run: bool,
    /// Always true: what is not valid is refused.
    valid: bool,
    post: PlannedPost,
    /// Effects that the post would not get although it is accepted.
    warnings: Vec<Warning>,
    workspace: WorkspaceOfPost,
    /// The forecast for its time.
    forecast: Forecast,
}

/// Returns the reply to a dry run: the post as it would be created.
async fn dry_run(
    act: &Act,
    examined: Examined,
    (workspace, forecast, more): (WorkspaceOfPost, Forecast, Vec<Warning>),
) -> Result<Reply<DryRun>> {
    let row = examined.filled()?;
    let mut warnings = examined.warnings().await?;
    warnings.extend(more);
    let (bytes, reader) = (size(&row), Reader::of(act));
    let checked = move || {
        let post = PlannedPost::of(row, &reader);
        let outcome = Checked::Checked;
        DryRun { outcome, dry_run: true, valid: true, post, warnings, workspace, forecast }
    };
    Ok(Reply::large(bytes, checked).await?.unchanged())
}
