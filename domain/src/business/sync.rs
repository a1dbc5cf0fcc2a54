//! Reading business profiles: the location's record, its reviews and its media.

use fanfare_entities::{
    AccountId, Millis, account, account::AccountStatus, business_media,
    business_media::BusinessMediaStatus, business_profile, business_profile::Column,
    business_review,
};
use fanfare_jobs::JobKind;
use fanfare_platforms::{
    self as platforms, BusinessProfile, ProfileFacts, RemoteMedia, RemoteReview, ReviewPage,
    Session,
};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter,
    QuerySelect, sea_query::OnConflict,
};
use serde_json::{Value, json};

use super::reviews;
use crate::{
    Act, Domain, Tx, accounts,
    background::{self, Budget, IsBusy, Permits, Reaction},
    clock::show,
    durable::{self, MAX_LEASE_EXPIRATIONS},
    error::Result,
    events::NewEvent,
    inbox::{factor, shortened},
};

const MINUTE: Millis = 60_000;
/// How old the location's record may be when it is shown.
pub(crate) const HOUR: Millis = 60 * MINUTE;

/// How often a profile is read, and how old reviews may be before a reading is asked for.
const EVERY: Millis = 6 * HOUR;
const STALE: Millis = 15 * MINUTE;

/// Pages of reviews that are read at first, and later.
const FIRST_PAGES: usize = 20;
const PAGES: usize = 2;

/// Calls that reading a location's record takes.
const PROFILE_CALLS: usize = 3;

/// When a film is looked for, after it was sent, and when it is given up.
const LOOKS: [Millis; 3] = [5 * MINUTE, 15 * MINUTE, 60 * MINUTE];
const REVIEW_MAX: Millis = 72 * HOUR;

/// Notes that a profile is to be read, now that its account is connected.
///
/// # Errors
/// The database's.
pub(crate) async fn connected<C: ConnectionTrait>(
    conn: &C,
    account: &account::Model,
    now: Millis,
) -> Result<()> {
    let platform = crate::posts::platform(&account.platform)?;
    if platforms::find(platform).business_profile().is_none() {
        return Ok(());
    }
    let row = business_profile::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        posts_known: Set(false),
        backfilled: Set(false),
        due_at: Set(Some(now + MINUTE)),
        fence: Set(0),
        attempts: Set(0),
        laps: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
        ..Default::default()
    };
    let known = OnConflict::column(Column::AccountId)
        .update_columns([Column::DueAt, Column::Attempts])
        .to_owned();
    business_profile::Entity::insert(row).on_conflict(known).exec_without_returning(conn).await?;
    Ok(())
}

/// Takes a profile, if it is due.
///
/// # Errors
/// The database's.
pub async fn claim(cx: &Domain, holder: &str, id: i64) -> Result<Option<business_profile::Model>> {
    let now = cx.clock.now();
    let taken = durable::claim(&cx.db.write, JobKind::SyncBusiness, &[id], (holder, now)).await?;
    Ok(taken.into_iter().next())
}

/// Has a profile read soon, if what is known is old.
pub(super) async fn ask_if_stale(act: &Act, account: &account::Model) -> Result<()> {
    let (cx, now) = (&act.cx, act.cx.clock.now());
    let stale = shortened(STALE, factor(cx, account));
    let row = business_profile::Entity::find().filter(Column::AccountId.eq(account.id));
    let Some(row) = row.one(&cx.db.read).await? else { return Ok(()) };
    let fresh = row.synced_at.is_some_and(|at| now < at + stale);
    let soon = row.due_at.is_some_and(|due| due <= now + 1_000);
    if fresh || soon || row.laps > 0 || account.status != AccountStatus::Connected {
        return Ok(());
    }
    ask(cx, &row).await
}

/// Has a profile read now.
pub(super) async fn ask(cx: &Domain, row: &business_profile::Model) -> Result<()> {
    let mut tx = Tx::begin(cx).await?;
    let now = tx.now();
    let change = business_profile::ActiveModel { due_at: Set(Some(now)), ..Default::default() };
    business_profile::Entity::update_many()
        .set(change)
        .filter(Column::Id.eq(row.id))
        .filter(Column::Fence.eq(row.fence))
        .exec(tx.conn())
        .await?;
    tx.enqueue(JobKind::SyncBusiness, row.workspace_id, row.id.0, now);
    tx.commit().await
}

/// The profile with a record that is at most so old; it is read again if it is older and can be.
pub(super) async fn fresh(
    act: &Act,
    account: &account::Model,
    age: Millis,
) -> Result<Option<business_profile::Model>> {
    let cx = &act.cx;
    let known = super::profile_of(act, account.id).await?;
    let Some(row) = known else { return Ok(None) };
    let age = shortened(age, factor(cx, account));
    let is_fresh = row.facts_at.is_some_and(|at| cx.clock.now() < at + age);
    if is_fresh || account.status != AccountStatus::Connected {
        return Ok(Some(row));
    }
    let platform = crate::posts::platform(&account.platform)?;
    let business = platforms::find(platform).business_profile();
    if let (Some(business), Some(session)) = (business, accounts::session(cx, account).await?)
        && let Ok(facts) = business.profile(&session).await
    {
        store_facts(cx, account.id, facts).await?;
    }
    super::profile_of(act, account.id).await
}

async fn store_facts(cx: &Domain, account: AccountId, facts: ProfileFacts) -> Result<()> {
    let change = business_profile::ActiveModel {
        location: Set(Some(facts.location)),
        verified: Set(facts.verified),
        last_post_at: Set(facts.last_post_at.map(|at| at.timestamp_millis())),
        posts_known: Set(facts.posts_known),
        facts_at: Set(Some(cx.clock.now())),
        ..Default::default()
    };
    business_profile::Entity::update_many()
        .set(change)
        .filter(Column::AccountId.eq(account))
        .exec(&cx.db.write)
        .await?;
    Ok(())
}

/// Reads a claimed profile, and gives it back until it is read again.
///
/// # Errors
/// The database's; then its lease expires.
pub async fn run(cx: &Domain, row: business_profile::Model, is_busy: IsBusy<'_>) -> Result<()> {
    let now = cx.clock.now();
    let account = accounts::row(cx, row.account_id).await?;
    let account = account.filter(|account| account.status == AccountStatus::Connected);
    let Some(account) = account else { return finish(cx, &row, None, false, 0).await };
    let after = |time| Some(now + shortened(time, factor(cx, &account)));
    if row.laps > MAX_LEASE_EXPIRATIONS {
        tracing::error!(account.id = account.id.0, "a profile is left alone for a day");
        return finish(cx, &row, Some(now + 24 * HOUR), false, 0).await;
    }
    let platform = crate::posts::platform(&account.platform)?;
    let business = platforms::find(platform).business_profile();
    let (Some(business), Some(session)) = (business, accounts::session(cx, &account).await?) else {
        return finish(cx, &row, None, false, 0).await;
    };
    let budget = Budget { quota: business.quota(), calls: u32::MAX, paced: false };
    let permits = Permits::new(cx, is_busy, (&account, &session), budget);
    let reading = Reading { cx, account: &account, business, session, permits, row: &row };
    match reading.all().await? {
        Ok(()) => {
            let next = next_look(cx, &account).await?.or_else(|| after(EVERY));
            finish(cx, &row, next, true, 0).await
        }
        Err(error) => failed(cx, &account, &row, &error).await,
    }
}

async fn failed(
    cx: &Domain,
    account: &account::Model,
    row: &business_profile::Model,
    error: &platforms::Error,
) -> Result<()> {
    let now = cx.clock.now();
    tracing::info!(account.id = account.id.0, kind = ?error.kind, "a profile was not read");
    let attempts = row.attempts.saturating_add(1);
    let (due_at, attempts) = match background::react(cx, account, error).await? {
        Reaction::Stop => (None, attempts),
        Reaction::After(wait) => (Some(now + wait), row.attempts),
        Reaction::Retry | Reaction::Forbidden => {
            let wait = shortened(background::backoff(attempts), factor(cx, account));
            (Some(now + wait), attempts)
        }
    };
    finish(cx, row, due_at, false, attempts).await
}

/// When a film that is looked over is looked for next.
async fn next_look(cx: &Domain, account: &account::Model) -> Result<Option<Millis>> {
    let now = cx.clock.now();
    let short = |time| shortened(time, factor(cx, account));
    let waiting = business_media::Entity::find()
        .filter(business_media::Column::AccountId.eq(account.id))
        .filter(business_media::Column::Status.eq(BusinessMediaStatus::InReview))
        .all(&cx.db.read)
        .await?;
    let next = |row: &business_media::Model| {
        let looks = LOOKS.iter().map(|after| row.created_at + short(*after));
        looks.into_iter().find(|at| *at > now)
    };
    Ok(waiting.iter().filter_map(next).min())
}

async fn finish(
    cx: &Domain,
    row: &business_profile::Model,
    due_at: Option<Millis>,
    synced: bool,
    attempts: i32,
) -> Result<()> {
    let now = cx.clock.now();
    let change = business_profile::ActiveModel {
        backfilled: Set(row.backfilled || synced),
        synced_at: Set(if synced { Some(now) } else { row.synced_at }),
        due_at: Set(due_at),
        attempts: Set(attempts),
        laps: Set(0),
        fence: Set(row.fence + 1),
        updated_at: Set(now),
        ..Default::default()
    };
    business_profile::Entity::update_many()
        .set(change)
        .filter(Column::Id.eq(row.id))
        .filter(Column::Fence.eq(row.fence))
        .exec(&cx.db.write)
        .await?;
    Ok(())
}

struct Reading<'a> {
    cx: &'a Domain,
    account: &'a account::Model,
    business: &'static dyn BusinessProfile,
    session: Session,
    permits: Permits<'a>,
    row: &'a business_profile::Model,
}

impl Reading<'_> {
    async fn all(&self) -> Result<platforms::Result<()>> {
        match self.profile().await {
            Ok(facts) => store_facts(self.cx, self.account.id, facts).await?,
            Err(error) => return Ok(Err(error)),
        }
        if let Err(error) = self.reviews().await? {
            return Ok(Err(error));
        }
        self.media().await
    }

    async fn profile(&self) -> platforms::Result<ProfileFacts> {
        for _ in 0..PROFILE_CALLS {
            self.permits.wait().await?;
        }
        self.business.profile(&self.session).await
    }

    async fn reviews_page(&self, next: Option<String>) -> platforms::Result<ReviewPage> {
        self.permits.wait().await?;
        self.business.reviews(&self.session, next).await
    }

    async fn media_page(
        &self,
        next: Option<String>,
    ) -> platforms::Result<platforms::Page<RemoteMedia>> {
        self.permits.wait().await?;
        self.business.media(&self.session, next).await
    }

    async fn reviews(&self) -> Result<platforms::Result<()>> {
        let read_at = self.cx.clock.now();
        let pages = if self.row.backfilled { PAGES } else { FIRST_PAGES };
        let (mut next, mut whole, mut told) = (None, false, (None, None));
        for _ in 0..pages {
            let page = match self.reviews_page(next).await {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            told = (page.average_rating, page.total);
            let mut tx = Tx::begin(self.cx).await?;
            for review in page.page.items {
                store_review(&mut tx, self.account, review, (read_at, self.row.backfilled)).await?;
            }
            tx.commit().await?;
            next = page.page.next;
            if next.is_none() {
                whole = true;
                break;
            }
        }
        if whole {
            // What is not listed any more was deleted.
            business_review::Entity::delete_many()
                .filter(business_review::Column::AccountId.eq(self.account.id))
                .filter(business_review::Column::SeenAt.lt(read_at))
                .exec(&self.cx.db.write)
                .await?;
        }
        let change = business_profile::ActiveModel {
            average_rating: Set(told.0),
            total_reviews: Set(told.1),
            ..Default::default()
        };
        business_profile::Entity::update_many()
            .set(change)
            .filter(Column::Id.eq(self.row.id))
            .exec(&self.cx.db.write)
            .await?;
        Ok(Ok(()))
    }

    async fn media(&self) -> Result<platforms::Result<()>> {
        let read_at = self.cx.clock.now();
        let (mut next, mut whole) = (None, false);
        for _ in 0..FIRST_PAGES {
            let page = match self.media_page(next).await {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            let tx = Tx::begin(self.cx).await?;
            for medium in page.items {
                store_medium(&tx, self.account, medium, read_at).await?;
            }
            tx.commit().await?;
            next = page.next;
            if next.is_none() {
                whole = true;
                break;
            }
        }
        if whole {
            self.settle_media(read_at).await?;
        }
        Ok(Ok(()))
    }

    /// Live media that are not listed any more are gone; films that were looked over for too long are rejected.
    async fn settle_media(&self, read_at: Millis) -> Result<()> {
        use business_media::Column as Of;
        business_media::Entity::delete_many()
            .filter(Of::AccountId.eq(self.account.id))
            .filter(Of::Status.eq(BusinessMediaStatus::Live))
            .filter(Of::SeenAt.lt(read_at))
            .exec(&self.cx.db.write)
            .await?;
        let patience = shortened(REVIEW_MAX, factor(self.cx, self.account));
        let error = json!({"code": "content_refused", "message": "Google did not show it within 72 hours.", "retry_safe": true});
        let change = business_media::ActiveModel {
            status: Set(BusinessMediaStatus::Rejected),
            error: Set(Some(error)),
            ..Default::default()
        };
        business_media::Entity::update_many()
            .set(change)
            .filter(Of::AccountId.eq(self.account.id))
            .filter(Of::Status.eq(BusinessMediaStatus::InReview))
            .filter(Of::CreatedAt.lt(read_at - patience))
            .exec(&self.cx.db.write)
            .await?;
        Ok(())
    }
}

fn stored_reply(review: &RemoteReview) -> Option<Value> {
    let reply = review.reply.as_ref()?;
    Some(json!({
        "text": reply.text, "state": reply.state, "policy_violation": reply.policy_violation,
        "updated_at": show(reply.updated_at.timestamp_millis()),
    }))
}

/// Takes in a review, or what is now known of it.
async fn store_review(
    tx: &mut Tx,
    account: &account::Model,
    review: RemoteReview,
    (read_at, live): (Millis, bool),
) -> Result<()> {
    use business_review::Column as Of;
    let known = business_review::Entity::find()
        .filter(Of::AccountId.eq(account.id))
        .filter(Of::Name.eq(review.name.as_str()))
        .lock_exclusive()
        .one(tx.conn())
        .await?;
    let reply = stored_reply(&review);
    let rejected =
        |reply: &Option<Value>| reply.as_ref().is_some_and(|one| one["state"] == "rejected");
    if let Some(row) = &known
        && rejected(&reply)
        && !rejected(&row.reply)
    {
        reviews::tell(tx, account, "review.reply_rejected", false, json!({"review_id": row.id}));
    }
    let row = business_review::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        name: Set(review.name.clone()),
        reviewer: Set(review.reviewer.clone()),
        avatar_url: Set(review.avatar_url.clone()),
        rating: Set(review.rating),
        text: Set(review.text.clone()),
        media: Set(json!(review.media)),
        reply: Set(reply),
        reviewed_at: Set(review.created_at.timestamp_millis()),
        changed_at: Set(review.updated_at.timestamp_millis()),
        seen_at: Set(read_at),
        ..Default::default()
    };
    match known {
        Some(known) => {
            let change = business_review::ActiveModel { id: Set(known.id), ..row };
            change.update(tx.conn()).await?;
        }
        None => {
            let row = business_review::ActiveModel { created_at: Set(tx.now()), ..row };
            let row = business_review::Entity::insert(row).exec_with_returning(tx.conn()).await?;
            if live {
                let review = reviews::view_for_event(tx, account, row).await?;
                reviews::tell(tx, account, "review.received", true, json!({ "review": review }));
            }
        }
    }
    Ok(())
}

/// Takes in a photo or film, whoever added it.
async fn store_medium(
    tx: &Tx,
    account: &account::Model,
    medium: RemoteMedia,
    read_at: Millis,
) -> Result<()> {
    use business_media::Column as Of;
    let known = business_media::Entity::find()
        .filter(Of::AccountId.eq(account.id))
        .filter(Of::Name.eq(medium.name.as_str()))
        .one(tx.conn())
        .await?;
    let row = business_media::ActiveModel {
        category: Set(medium.category),
        video: Set(medium.video),
        url: Set(medium.url),
        thumbnail_url: Set(medium.thumbnail_url),
        width: Set(medium.width),
        height: Set(medium.height),
        view_count: Set(medium.view_count),
        status: Set(BusinessMediaStatus::Live),
        error: Set(None),
        seen_at: Set(read_at),
        ..Default::default()
    };
    if let Some(known) = known {
        let change = business_media::ActiveModel {
            id: Set(known.id),
            source_url: Set(medium.source_url.or(known.source_url)),
            added_at: Set(medium.created_at.map(|at| at.timestamp_millis()).or(known.added_at)),
            ..row
        };
        change.update(tx.conn()).await?;
        return Ok(());
    }
    let row = business_media::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        name: Set(Some(medium.name)),
        source_url: Set(medium.source_url),
        added_at: Set(medium.created_at.map(|at| at.timestamp_millis())),
        created_at: Set(tx.now()),
        ..row
    };
    business_media::Entity::insert(row).exec_without_returning(tx.conn()).await?;
    Ok(())
}

/// Forgets the profiles of accounts that are disconnected.
///
/// # Errors
/// The database's.
pub(crate) async fn prune(cx: &Domain) -> Result<u64> {
    use sea_orm::QueryTrait;
    let gone = || {
        account::Entity::find()
            .select_only()
            .column(account::Column::Id)
            .filter(account::Column::Status.eq(AccountStatus::Disconnected))
            .into_query()
    };
    let db = &cx.db.write;
    let reviews = business_review::Entity::delete_many()
        .filter(business_review::Column::AccountId.in_subquery(gone()));
    let media = business_media::Entity::delete_many()
        .filter(business_media::Column::AccountId.in_subquery(gone()));
    let profiles =
        business_profile::Entity::delete_many().filter(Column::AccountId.in_subquery(gone()));
    let mut deleted = reviews.exec(db).await?.rows_affected;
    deleted += media.exec(db).await?.rows_affected;
    Ok(deleted + profiles.exec(db).await?.rows_affected)
}

/// An event about an account.
pub(super) fn event(
    account: &account::Model,
    event_type: &'static str,
    streamed: bool,
    data: &Value,
    message: String,
) -> NewEvent {
    NewEvent {
        workspace_id: account.workspace_id,
        event_type,
        streamed,
        data: data.to_string(),
        post_id: None,
        account_id: Some(account.id),
        brand_id: account.brand_id,
        platform: Some(account.platform.clone()),
        status: None,
        message,
        request_id: None,
    }
}
