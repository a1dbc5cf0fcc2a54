//! Reading the inboxes of accounts: what there was before they were connected, and what no webhook told of.

use fanfare_entities::{
    AccountId, Millis, WorkspaceId, account, account::AccountStatus, inbox_comment, inbox_sync,
    inbox_sync::Column, subscription,
};
use fanfare_jobs::JobKind;
use fanfare_platforms::{
    self as platforms, Inbox, Kind, RemoteComment, RemoteMessage, RemotePost, Session,
};
use schemars::JsonSchema;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect, sea_query::OnConflict,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    factor, inbound, shortened,
    store::{self, Intake},
};
use crate::{
    Act, Domain, Reply, Tx,
    access::PlanTier,
    accounts,
    background::{self, Budget, IsBusy, Permits, Reaction},
    clock::Time,
    durable::{self, MAX_LEASE_EXPIRATIONS},
    error::Result,
};

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;

/// How often an account is read whose network sends what happens.
const WITH_WEBHOOKS: Millis = 6 * HOUR;

/// How often any other is read: while something came within a day, and else.
const BUSY: Millis = 5 * MINUTE;
const QUIET: Millis = 30 * MINUTE;

/// It is not read again within this time because somebody asks.
const COOLDOWN: Millis = MINUTE;

/// Pages of conversations that are read at first, and later.
const FIRST_PAGES: usize = 4;

/// Posts whose comments are read, and how old they may be.
const POSTS: usize = 50;
const POST_AGE: Millis = 30 * 24 * HOUR;

/// Pages of comments that are read of a post.
const COMMENT_PAGES: usize = 5;

/// Notes that an account is to be read, now that it is connected.
///
/// # Errors
/// The database's.
pub(crate) async fn connected<C: ConnectionTrait>(
    conn: &C,
    account: &account::Model,
    now: Millis,
) -> Result<()> {
    let platform: platforms::PlatformId = crate::posts::platform(&account.platform)?;
    if platforms::find(platform).inbox().is_none() {
        return Ok(());
    }
    let due_at = now + shortened(MINUTE, if account.sandbox { 1.0 } else { 60.0 });
    let row = inbox_sync::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        backfilled: Set(false),
        needs_permission: Set(false),
        due_at: Set(Some(due_at)),
        fence: Set(0),
        attempts: Set(0),
        laps: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let known = OnConflict::column(Column::AccountId)
        .update_columns([Column::DueAt, Column::NeedsPermission, Column::Attempts])
        .to_owned();
    inbox_sync::Entity::insert(row).on_conflict(known).exec_without_returning(conn).await?;
    Ok(())
}

/// Returns whether a workspace's plan has the inbox.
///
/// # Errors
/// The database's.
pub(super) async fn has_inbox_plan(cx: &Domain, workspace: WorkspaceId) -> Result<bool> {
    let paid = subscription::Entity::find_by_id(workspace).one(&cx.db.read).await?;
    Ok(paid.is_some_and(|paid| paid.active && paid.plan_tier >= PlanTier::Pro))
}

/// Which accounts to read.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SyncRequest {
    /// Only this account; left out: all that have an inbox.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Whether an account is going to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncStatus {
    /// It is read next.
    Queued,
    /// It is being read.
    Running,
    /// It was read within the last minute.
    Cooldown,
    /// The account did not grant what is needed: connect it again with all permissions.
    NeedsPermission,
    /// The account must be connected again.
    ReconnectRequired,
    /// Its network has no inbox here.
    NotSupported,
}

/// Whether one account is going to be read.
#[derive(Debug, Serialize, JsonSchema)]
struct SyncAsked {
    account_id: AccountId,
    status: SyncStatus,
    last_synced_at: Option<Time>,
}

/// Which accounts are going to be read.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SyncsAsked {
    sync: Vec<SyncAsked>,
}

/// Has inboxes read now.
///
/// # Errors
/// [`crate::Code::AccountNotFound`].
pub async fn request(act: &Act, wanted: SyncRequest) -> Result<Reply<SyncsAsked>> {
    let accounts = match wanted.account_id {
        Some(id) => vec![accounts::find(act, AccountId(id)).await?],
        None => {
            let all = accounts::visible(act).order_by_asc(account::Column::Id);
            let mut all = all.all(&act.cx.db.read).await?;
            all.retain(|account| super::rules(account).is_some());
            all
        }
    };
    let mut tx = act.begin().await?;
    let mut sync = Vec::new();
    for account in &accounts {
        sync.push(ask(act, &mut tx, account).await?);
    }
    act.finish(tx, Reply::ok(&SyncsAsked { sync }).with_status(202)).await
}

async fn ask(act: &Act, tx: &mut Tx, account: &account::Model) -> Result<SyncAsked> {
    let answer = |status, last: Option<Millis>| SyncAsked {
        account_id: account.id,
        status,
        last_synced_at: last.map(Time),
    };
    if super::rules(account).is_none() {
        return Ok(answer(SyncStatus::NotSupported, None));
    }
    if account.status != AccountStatus::Connected {
        return Ok(answer(SyncStatus::ReconnectRequired, None));
    }
    let row = inbox_sync::Entity::find()
        .filter(Column::AccountId.eq(account.id))
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    let Some(row) = row else {
        connected(tx.conn(), account, tx.now() - MINUTE).await?;
        return Ok(answer(SyncStatus::Queued, None));
    };
    let (now, last) = (tx.now(), row.last_synced_at);
    let cooldown = shortened(COOLDOWN, factor(&act.cx, account));
    let recent = |at: Option<Millis>| at.is_some_and(|at| now < at + cooldown);
    if row.laps > 0 {
        return Ok(answer(SyncStatus::Running, last));
    }
    if recent(last) || recent(row.asked_at) {
        let status = if row.needs_permission && row.due_at.is_none_or(|due| due > now) {
            SyncStatus::NeedsPermission
        } else {
            SyncStatus::Cooldown
        };
        return Ok(answer(status, last));
    }
    let change = inbox_sync::ActiveModel {
        asked_at: Set(Some(now)),
        due_at: Set(Some(now)),
        updated_at: Set(now),
        ..Default::default()
    };
    inbox_sync::Entity::update_many()
        .set(change)
        .filter(Column::Id.eq(row.id))
        .exec(tx.conn())
        .await?;
    tx.enqueue(JobKind::SyncInbox, row.workspace_id, row.id.0, now);
    let status =
        if row.needs_permission { SyncStatus::NeedsPermission } else { SyncStatus::Queued };
    Ok(answer(status, last))
}

/// Takes an account's inbox, if it is due.
///
/// # Errors
/// The database's.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<inbox_sync::Model>> {
    let now = cx.clock.now();
    let taken = durable::claim(&cx.db.write, JobKind::SyncInbox, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// What a reading came to.
struct Outcome {
    due_at: Option<Millis>,
    synced: bool,
    subscribed: bool,
    needs_permission: bool,
    attempts: i32,
}

/// Reads the inbox of a claimed account, and gives it back until it is read again.
///
/// # Errors
/// The database's; then its lease expires.
pub async fn run(cx: &Domain, row: inbox_sync::Model, is_busy: IsBusy<'_>) -> Result<()> {
    let now = cx.clock.now();
    let account = accounts::row(cx, row.account_id).await?;
    let account = account.filter(|account| account.status == AccountStatus::Connected);
    let rest = Outcome {
        due_at: None,
        synced: false,
        subscribed: row.subscribed_at.is_some(),
        needs_permission: row.needs_permission,
        attempts: 0,
    };
    let Some(account) = account else { return finish(cx, &row, rest).await };
    let short = |time| shortened(time, factor(cx, &account));
    if row.laps > MAX_LEASE_EXPIRATIONS {
        tracing::error!(account.id = account.id.0, "an inbox is left alone for a day");
        return finish(cx, &row, Outcome { due_at: Some(now + 24 * HOUR), ..rest }).await;
    }
    if !has_inbox_plan(cx, account.workspace_id).await? {
        return finish(cx, &row, Outcome { due_at: Some(now + short(WITH_WEBHOOKS)), ..rest })
            .await;
    }
    let platform = crate::posts::platform(&account.platform)?;
    let Some(inbox) = platforms::find(platform).inbox() else {
        return finish(cx, &row, rest).await;
    };
    let Some(session) = accounts::session(cx, &account).await? else {
        return finish(cx, &row, rest).await;
    };
    let budget = Budget { quota: inbox.quota(), calls: u32::MAX, paced: true };
    let permits = Permits::new(cx, is_busy, (&account, &session), budget);
    let read = Reading { cx, account: &account, inbox, session, permits, row: &row };
    let (subscribed, answer) = read.all().await?;
    let next = next(cx, &account, &row, subscribed, answer).await?;
    finish(cx, &row, next).await
}

/// When an inbox is read again.
async fn next(
    cx: &Domain,
    account: &account::Model,
    row: &inbox_sync::Model,
    subscribed: bool,
    answer: platforms::Result<bool>,
) -> Result<Outcome> {
    let now = cx.clock.now();
    let short = |time| shortened(time, factor(cx, account));
    let attempts = row.attempts.saturating_add(1);
    let after = |time: Millis| Some(now + short(time));
    let failed = Outcome {
        due_at: after(background::backoff(attempts)),
        synced: false,
        subscribed,
        needs_permission: false,
        attempts,
    };
    let error = match answer {
        Ok(busy) => {
            let hears = subscribed && (account.sandbox || cx.settings.meta.verify_token.is_some());
            let every = match (hears, busy) {
                (true, _) => WITH_WEBHOOKS,
                (false, true) => BUSY,
                (false, false) => QUIET,
            };
            return Ok(Outcome { due_at: after(every), synced: true, attempts: 0, ..failed });
        }
        Err(error) => error,
    };
    tracing::info!(account.id = account.id.0, kind = ?error.kind, "an inbox was not read");
    Ok(match background::react(cx, account, &error).await? {
        Reaction::Stop => Outcome { due_at: None, ..failed },
        Reaction::After(wait) => {
            Outcome { due_at: Some(now + wait), attempts: row.attempts, ..failed }
        }
        Reaction::Forbidden => {
            Outcome { due_at: after(WITH_WEBHOOKS), needs_permission: true, ..failed }
        }
        Reaction::Retry => failed,
    })
}

async fn finish(cx: &Domain, row: &inbox_sync::Model, outcome: Outcome) -> Result<()> {
    let now = cx.clock.now();
    let change = inbox_sync::ActiveModel {
        backfilled: Set(row.backfilled || outcome.synced),
        subscribed_at: Set(row.subscribed_at.or(outcome.subscribed.then_some(now))),
        last_synced_at: Set(if outcome.synced { Some(now) } else { row.last_synced_at }),
        needs_permission: Set(outcome.needs_permission),
        due_at: Set(outcome.due_at),
        attempts: Set(outcome.attempts),
        laps: Set(0),
        fence: Set(row.fence + 1),
        updated_at: Set(now),
        ..Default::default()
    };
    inbox_sync::Entity::update_many()
        .set(change)
        .filter(Column::Id.eq(row.id))
        .filter(Column::Fence.eq(row.fence))
        .exec(&cx.db.write)
        .await?;
    Ok(())
}

/// A page of what a network lists.
type PageOf<T> = platforms::Result<platforms::Page<T>>;

/// One reading of one account.
struct Reading<'a> {
    cx: &'a Domain,
    account: &'a account::Model,
    inbox: &'static dyn Inbox,
    session: Session,
    permits: Permits<'a>,
    row: &'a inbox_sync::Model,
}

impl Reading<'_> {
    /// Subscribes and reads everything; whether something came within a day.
    async fn all(&self) -> Result<(bool, platforms::Result<bool>)> {
        let mut subscribed = self.row.subscribed_at.is_some();
        if !subscribed {
            match self.subscribe().await {
                Ok(()) => subscribed = true,
                Err(error) if error.kind == Kind::Misconfigured => {}
                Err(error) => return Ok((false, Err(error))),
            }
        }
        let messages = match self.messages().await? {
            Ok(busy) => busy,
            Err(error) => return Ok((subscribed, Err(error))),
        };
        Ok((subscribed, self.comments().await?.map(|busy| busy || messages)))
    }

    async fn subscribe(&self) -> platforms::Result<()> {
        self.permits.wait().await?;
        self.inbox.subscribe(&self.session).await
    }

    async fn conversations(&self, next: Option<String>) -> PageOf<Vec<RemoteMessage>> {
        self.permits.wait().await?;
        self.inbox.conversations(&self.session, next).await
    }

    async fn recent_posts(&self) -> platforms::Result<Vec<RemotePost>> {
        self.permits.wait().await?;
        self.inbox.recent_posts(&self.session).await
    }

    async fn comments_page(&self, post: &str, next: Option<String>) -> PageOf<RemoteComment> {
        self.permits.wait().await?;
        self.inbox.comments(&self.session, post, next).await
    }

    /// What came before the account was connected is no news.
    fn intake(&self) -> Intake {
        Intake { live: self.row.backfilled }
    }

    fn is_recent(&self, at: Millis) -> bool {
        self.cx.clock.now() - at < 24 * HOUR
    }

    async fn messages(&self) -> Result<platforms::Result<bool>> {
        if !self.inbox.rules().messages {
            return Ok(Ok(false));
        }
        let pages = if self.row.backfilled { 1 } else { FIRST_PAGES };
        let (mut next, mut busy) = (None, false);
        for _ in 0..pages {
            let page = match self.conversations(next).await {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            for mut messages in page.items {
                messages.sort_by_key(|message| message.at);
                let mut tx = Tx::begin(self.cx).await?;
                inbound::lock(&tx, self.account.id).await?;
                for message in messages {
                    busy |= !message.out && self.is_recent(message.at.timestamp_millis());
                    store::message(&mut tx, self.account, message, self.intake()).await?;
                }
                tx.commit().await?;
            }
            next = page.next;
            if next.is_none() {
                break;
            }
        }
        Ok(Ok(busy))
    }

    async fn comments(&self) -> Result<platforms::Result<bool>> {
        let posts = match self.recent_posts().await {
            Ok(posts) => posts,
            Err(error) => return Ok(Err(error)),
        };
        let since = self.cx.clock.now() - POST_AGE;
        let recent = posts.into_iter().filter(|post| post.at.timestamp_millis() >= since);
        let mut busy = false;
        for post in recent.take(POSTS) {
            match self.comments_of(&post.id).await? {
                Ok(of_post) => busy |= of_post,
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(busy))
    }

    async fn comments_of(&self, post: &str) -> Result<platforms::Result<bool>> {
        let read_at = self.cx.clock.now();
        let (mut next, mut all, mut whole) = (None, Vec::new(), false);
        for _ in 0..COMMENT_PAGES {
            let page = match self.comments_page(post, next).await {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            all.extend(page.items);
            next = page.next;
            if next.is_none() {
                whole = true;
                break;
            }
        }
        // Comments come before the replies to them.
        all.sort_by_key(|comment| (comment.parent.is_some(), comment.at));
        let busy = all.iter().any(|one| !one.own && self.is_recent(one.at.timestamp_millis()));
        let mut tx = Tx::begin(self.cx).await?;
        inbound::lock(&tx, self.account.id).await?;
        if whole && !self.inbox.rules().hidden_are_unlisted {
            self.missing(&mut tx, post, &all, read_at).await?;
        }
        for comment in all {
            store::comment(&mut tx, self.account, comment, read_at, self.intake()).await?;
        }
        tx.commit().await?;
        Ok(Ok(busy))
    }

    /// What was there and is not listed any more was deleted.
    async fn missing(
        &self,
        tx: &mut Tx,
        post: &str,
        listed: &[RemoteComment],
        read_at: Millis,
    ) -> Result<()> {
        let known = inbox_comment::Entity::find()
            .filter(inbox_comment::Column::AccountId.eq(self.account.id))
            .filter(inbox_comment::Column::PlatformPostId.eq(post))
            .filter(inbox_comment::Column::Deleted.eq(false))
            .filter(inbox_comment::Column::CreatedAt.lt(read_at))
            .all(tx.conn())
            .await?;
        for row in known {
            let Some(id) = &row.remote_id else { continue };
            if row.changed_at < read_at && !listed.iter().any(|one| one.id == *id) {
                store::deleted(tx, self.account, id, None, read_at).await?;
            }
        }
        Ok(())
    }
}
