//! How publishing to each network goes.

use std::collections::BTreeMap;

use fanfare_entities::Millis;
use fanfare_jobs::Kind;
use sea_orm::FromQueryResult;
use serde::Serialize;

use super::samples::{self, MINUTE, Sum, measure};
use crate::{Domain, db::statement, error::Result};

/// A network, as it is shown.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Network {
    /// Identifier.
    pub platform: String,
    /// The last hour.
    pub hour: Tally,
    /// The last day.
    pub day: Tally,
    /// Accounts that can be used.
    pub connected: i64,
    /// Accounts whose credentials were refused.
    pub to_reconnect: i64,
}

/// What came of posts.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Tally {
    /// Published.
    pub published: i64,
    /// Failed for good.
    pub failed: i64,
    /// Tries that are repeated.
    pub retried: i64,
    /// Codes of failures and of tries that are repeated, with how many, the most frequent first.
    pub errors: Vec<(String, i64)>,
}

impl Tally {
    /// Share of what ended that was published; `None` if nothing ended.
    #[must_use]
    pub fn success(&self) -> Option<f64> {
        let ended = self.published + self.failed;
        #[expect(clippy::cast_precision_loss, reason = "counts of a day are far below 2^52")]
        (ended > 0).then(|| self.published as f64 / ended as f64)
    }

    fn of(platform: &str, sums: &[Sum]) -> Self {
        let kind = Kind::PublishPost.as_str();
        let mine = sums.iter().filter(|sum| sum.kind == kind && sum.platform == platform);
        let mut tally = Self::default();
        let mut errors = BTreeMap::<&str, i64>::new();
        for sum in mine {
            match sum.measure.as_str() {
                measure::DONE => tally.published += sum.n,
                measure::FAILED => tally.failed += sum.n,
                measure::RETRIED => tally.retried += sum.n,
                other => {
                    if let Some(code) = other.strip_prefix(measure::ERROR) {
                        *errors.entry(code).or_default() += sum.n;
                    }
                }
            }
        }
        tally.errors = errors.into_iter().map(|(code, n)| (code.to_owned(), n)).collect();
        tally.errors.sort_by_key(|(_, n)| -n);
        tally
    }
}

/// The identifiers of the networks that have a connector.
#[must_use]
pub fn known() -> Vec<&'static str> {
    fanfare_platforms::all().iter().map(|platform| platform.spec().id.as_str()).collect()
}

/// Every network.
///
/// # Errors
/// The database's.
pub async fn list(cx: &Domain) -> Result<Vec<Network>> {
    let now = cx.clock.now();
    // One step as long as what is looked at: the sums are all that is wanted.
    let whole: Millis = 48 * 60 * MINUTE;
    let hour = samples::sums(cx, now - 60 * MINUTE, whole).await?;
    let day = samples::sums(cx, now - 24 * 60 * MINUTE, whole).await?;
    let accounts = accounts(cx).await?;
    let count = |platform: &str, status: &str| -> i64 {
        let mine = accounts.iter().filter(|one| one.platform == platform && one.status == status);
        mine.map(|one| one.n).sum()
    };
    let networks = known().into_iter().map(|platform| Network {
        platform: platform.to_owned(),
        hour: Tally::of(platform, &hour),
        day: Tally::of(platform, &day),
        connected: count(platform, "connected"),
        to_reconnect: count(platform, "reconnect_required"),
    });
    Ok(networks.collect())
}

#[derive(FromQueryResult)]
struct Accounts {
    platform: String,
    status: String,
    n: i64,
}

async fn accounts(cx: &Domain) -> Result<Vec<Accounts>> {
    let conn = &cx.db.read;
    let sql = "SELECT platform, status, CAST(count(*) AS BIGINT) AS n FROM accounts \
               GROUP BY platform, status";
    Ok(Accounts::find_by_statement(statement(conn, sql, [])).all(conn).await?)
}
