//! Finds the posts of an account that are alike.

use std::{collections::HashMap, sync::Arc};

use fanfare_core::{
    access::Membership,
    clock::Time,
    db::statement,
    error::{Error, Result, refusal::SimilarPost},
    offload,
    rows::Rows,
};
use fanfare_entities::{AccountId, BrandId, Millis, PostId, account, post::PostStatus};
use sea_orm::{ConnectionTrait, EntityTrait, QueryResult, QuerySelect, sea_query::LockType};
use serde::Deserialize;
use serde_json::Value;

use super::{
    COMPARED_SPAN, Print,
    form::READ_MAX,
    measure::{Match, TextPrint, with_files},
    print::{digests, names},
};
use crate::posts::view::PostMedia;

/// The most posts that are compared: those whose time is nearest.
const COMPARED_MAX: usize = 200;

/// Where and when a post goes out, and what it is not compared with.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its account.
    pub account: AccountId,
    /// Its time; now for one that has none.
    pub at: Millis,
    /// The post itself, if it exists already.
    pub but_not: Option<PostId>,
    /// The brands whose posts the caller may see; `None`: all posts.
    pub brands: Option<Vec<BrandId>>,
}

impl Place {
    /// Returns the place of a post that a member is about to make.
    #[must_use]
    pub fn new(membership: &Membership, account: AccountId, at: Millis) -> Self {
        Self { account, at, but_not: None, brands: membership.brands.clone() }
    }

    /// Leaves a post out.
    #[must_use]
    pub fn but_not(self, post: PostId) -> Self {
        Self { but_not: Some(post), ..self }
    }

    fn sees(&self, brand: Option<BrandId>) -> bool {
        let of_theirs = |brands: &Vec<BrandId>| brand.is_some_and(|brand| brands.contains(&brand));
        self.brands.as_ref().is_none_or(of_theirs)
    }
}

/// Locks an account until the end of the transaction, so that no other request that refuses duplicates writes for it
/// meanwhile. Of several accounts the one with the lowest id is locked first. On SQLite there is one writer anyway.
///
/// # Errors
/// The database's.
pub async fn lock_account<C: ConnectionTrait>(conn: &C, account: AccountId) -> Result<()> {
    // The key is not locked: posts without the guard, which refer to it, do not wait.
    let query = account::Entity::find_by_id(account).select_only().column(account::Column::Id);
    query.lock(LockType::NoKeyUpdate).into_tuple::<AccountId>().one(conn).await?;
    Ok(())
}

/// Returns the posts of the account that are like this one, newest first. Compared are those within seven days of its
/// time that have not failed, the nearest 200.
///
/// # Errors
/// The database's.
pub async fn find<C: ConnectionTrait>(
    conn: &C,
    place: &Place,
    print: &Print,
) -> Result<Vec<SimilarPost>> {
    if !print.says_something() {
        return Ok(Vec::new());
    }
    let near = near_in_time(conn, place).await?;
    let bytes = near.iter().map(|one| one.text.len()).sum();
    let mine = Arc::new(print.clone());
    let alike = offload(bytes, move || {
        let compared = |one: Candidate| {
            let texts = mine.text.compare(&TextPrint::of(&one.text))?;
            Some((one, texts))
        };
        near.into_iter().filter_map(compared).collect::<Vec<_>>()
    })
    .await?;
    let files = files_of(conn, &alike).await?;
    let no_files = Vec::new();
    let judged = alike.into_iter().filter_map(|(one, texts)| {
        let theirs = files.get(&one.id).unwrap_or(&no_files);
        let kind = with_files(texts, &print.files, theirs)?;
        let (post_id, status) = (one.id, one.status);
        Some(SimilarPost { post_id, kind, scheduled_at: Time(one.at), status })
    });
    let mut similar: Vec<_> = judged.collect();
    similar.sort_unstable_by_key(|one| std::cmp::Reverse(one.post_id));
    Ok(similar)
}

/// A post that is compared.
struct Candidate {
    id: PostId,
    status: PostStatus,
    at: Millis,
    text: String,
}

impl Candidate {
    /// Reads a post; `None` if the caller does not see it.
    fn read(row: &QueryResult, place: &Place) -> Result<Option<Self>> {
        if !place.sees(row.try_get("", "brand_id")?) {
            return Ok(None);
        }
        Ok(Some(Self {
            id: row.try_get("", "id")?,
            status: row.try_get("", "status")?,
            at: row.try_get("", "scheduled_at")?,
            text: row.try_get("", "text")?,
        }))
    }
}

async fn near_in_time<C: ConnectionTrait>(conn: &C, place: &Place) -> Result<Vec<Candidate>> {
    let posts = format!(
        "SELECT id, brand_id, status, scheduled_at, substr(caption, 1, {READ_MAX}) AS text FROM posts \
         WHERE account_id = $1 AND id <> $2 AND status <> 'failed'"
    );
    // Read from this time on in both directions, each part in the order of the index.
    let sql = format!(
        "SELECT * FROM (\
         SELECT * FROM ({posts} AND scheduled_at > $3 AND scheduled_at <= $4 \
         ORDER BY scheduled_at LIMIT {COMPARED_MAX}) AS later UNION ALL \
         SELECT * FROM ({posts} AND scheduled_at <= $3 AND scheduled_at >= $5 \
         ORDER BY scheduled_at DESC LIMIT {COMPARED_MAX}) AS earlier) AS near \
         ORDER BY abs(scheduled_at - $3), id DESC LIMIT {COMPARED_MAX}"
    );
    let values = [
        place.account.0.into(),
        place.but_not.map_or(0, |id| id.0).into(),
        place.at.into(),
        (place.at + COMPARED_SPAN).into(),
        (place.at - COMPARED_SPAN).into(),
    ];
    let rows = conn.query_all_raw(statement(conn, sql, values)).await?;
    let read = rows.iter().map(|row| Candidate::read(row, place)).collect::<Result<Vec<_>>>()?;
    Ok(read.into_iter().flatten().collect())
}

/// Returns the names of the files of those posts of which they decide something.
async fn files_of<C: ConnectionTrait>(
    conn: &C,
    alike: &[(Candidate, Match)],
) -> Result<HashMap<PostId, Vec<String>>> {
    let decide = alike.iter().filter(|(_, texts)| *texts != Match::Near);
    let ids: Vec<i64> = decide.map(|(one, _)| one.id.0).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = Rows::of_ids(conn, &ids);
    let sql = format!(
        "SELECT p.id, p.media FROM {} JOIN posts AS p ON p.id = asked.id",
        rows.from("asked", 1)
    );
    let mut media: HashMap<PostId, Vec<PostMedia>> = HashMap::new();
    for row in conn.query_all_raw(statement(conn, sql, rows.values())).await? {
        // A list that cannot be read has no files that are known.
        let list: Value = row.try_get("", "media").map_err(Error::from)?;
        media.insert(row.try_get("", "id")?, Vec::deserialize(&list).unwrap_or_default());
    }
    let digests = digests(conn, media.values().flatten()).await?;
    Ok(media.into_iter().map(|(id, files)| (id, names(&files, &digests))).collect())
}
