//! Pauses of publishing: for everything, for one network, or for one account.

use std::{fmt, str::FromStr};

use fanfare_core::{
    Domain, Tx,
    db::statement,
    error::{Code, Error, Result},
};
use fanfare_entities::{AccountId, Millis, PauseId, account, pause};
use fanfare_platforms::PlatformId;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, FromQueryResult, QueryFilter, QueryOrder,
};
use serde::Serialize;

use super::Actor;

/// The subject of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseTarget {
    /// All publishing.
    All,
    /// One network.
    Platform(PlatformId),
    /// One account.
    Account(AccountId),
}

impl PauseTarget {
    /// Returns its name for people.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::All => "all publishing".to_owned(),
            Self::Platform(platform) => format!("publishing to {platform}"),
            Self::Account(account) => format!("publishing to account {account}"),
        }
    }

    fn of(row: &pause::Model) -> Result<Self> {
        match (&row.platform, row.account_id) {
            (None, None) => Ok(Self::All),
            (Some(name), None) => {
                Ok(Self::Platform(fanfare_publishing::platforms::from_row(name)?))
            }
            (_, Some(account)) => Ok(Self::Account(account)),
        }
    }

    const fn columns(&self) -> (Option<&'static str>, Option<i64>) {
        match self {
            Self::All => (None, None),
            Self::Platform(platform) => (Some(platform.as_str()), None),
            Self::Account(account) => (None, Some(account.0)),
        }
    }
}

/// Writes it as addresses and commands do: `all`, `platform:bluesky`, `account:7`.
impl fmt::Display for PauseTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Platform(platform) => write!(f, "platform:{platform}"),
            Self::Account(account) => write!(f, "account:{account}"),
        }
    }
}

impl FromStr for PauseTarget {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |message: String| {
            let remedy = "Name `all`, `platform:bluesky` or `account:7`.";
            Error::field(Code::InvalidField, "target", message, remedy)
        };
        match text.split_once(':') {
            None if text == "all" => Ok(Self::All),
            Some(("platform", name)) => {
                name.parse().map(Self::Platform).map_err(|error| bad(format!("{error}")))
            }
            Some(("account", id)) => id
                .parse()
                .map(|id| Self::Account(AccountId(id)))
                .map_err(|_| bad(format!("{id:?} is not an account's number."))),
            _ => Err(bad(format!("{text:?} cannot be paused."))),
        }
    }
}

/// A pause as pages show it.
#[derive(Debug, Clone, Serialize)]
pub struct Pause {
    /// The subject of a pause, as commands write it.
    pub target: String,
    /// The network, if one network is paused.
    pub platform: Option<String>,
    /// The account, if one account is paused.
    pub account_id: Option<AccountId>,
    /// The account's name on its network.
    pub account: Option<String>,
    /// The reason that was given.
    pub reason: String,
    /// The operator.
    pub operator: String,
    /// The time at which it began.
    pub since: Millis,
    /// The number of due posts that were set aside so far.
    pub held: i64,
}

impl Pause {
    /// Returns what is paused, for people: an account, a network, or everything.
    #[must_use]
    pub fn name(&self) -> &str {
        let named = self.account.as_deref().or(self.platform.as_deref());
        named.unwrap_or("everything")
    }

    /// Returns true if posts of this account wait for it.
    #[must_use]
    pub fn covers(&self, platform: &str, account: AccountId) -> bool {
        self.platform.as_deref().is_none_or(|paused| paused == platform)
            && self.account_id.is_none_or(|paused| paused == account)
    }
}

/// Returns the pauses, oldest first.
///
/// # Errors
/// The database's.
pub async fn list(cx: &Domain) -> Result<Vec<Pause>> {
    let db = &cx.db.read;
    let rows = pause::Entity::find().order_by_asc(pause::Column::CreatedAt).all(db).await?;
    let held = held(db).await?;
    let ids = rows.iter().filter_map(|row| row.account_id);
    let accounts = account::Entity::find().filter(account::Column::Id.is_in(ids)).all(db).await?;
    rows.into_iter()
        .map(|row| {
            let account = accounts.iter().find(|one| Some(one.id) == row.account_id);
            Ok(Pause {
                target: PauseTarget::of(&row)?.to_string(),
                account: account.map(|one| format!("{} on {}", one.username, one.platform)),
                held: held.iter().find(|one| one.pause_id == row.id).map_or(0, |one| one.n),
                platform: row.platform,
                account_id: row.account_id,
                reason: row.reason,
                operator: row.operator,
                since: row.created_at,
            })
        })
        .collect()
}

#[derive(FromQueryResult)]
struct Held {
    pause_id: PauseId,
    n: i64,
}

async fn held<C: ConnectionTrait>(conn: &C) -> Result<Vec<Held>, DbErr> {
    let sql = "SELECT pause_id, count(*) AS n FROM post_holds GROUP BY pause_id";
    Held::find_by_statement(statement(conn, sql, [])).all(conn).await
}

/// Fails if the target does not exist.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub(super) async fn check<C: ConnectionTrait>(conn: &C, target: PauseTarget) -> Result<()> {
    let PauseTarget::Account(id) = target else { return Ok(()) };
    let found = account::Entity::find_by_id(id).one(conn).await?;
    let missing = || Error::new(Code::AccountNotFound, format!("There is no account {id}."));
    found.map(drop).ok_or_else(missing)
}

/// Starts a pause; returns the outcome as a sentence.
pub(super) async fn pause(
    tx: &Tx,
    actor: &Actor,
    target: PauseTarget,
    why: &str,
) -> Result<String> {
    let conn = tx.conn();
    check(conn, target).await?;
    let (platform, account) = target.columns();
    let sql = "INSERT INTO pauses (id, platform, account_id, reason, operator, created_at) \
               VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let values = [
        PauseId::fresh().0.into(),
        platform.into(),
        account.into(),
        why.into(),
        actor.name.as_str().into(),
        tx.now().into(),
    ];
    let made = conn.execute_raw(statement(conn, sql, values)).await?.rows_affected();
    let name = target.name();
    Ok(if made == 1 {
        format!("Paused {name}.")
    } else {
        format!("Nothing changed: {name} was paused already.")
    })
}

/// Ends a pause; returns the outcome as a sentence. The scheduler makes the posts that were set aside due again.
pub(super) async fn resume(tx: &Tx, target: PauseTarget) -> Result<String> {
    let conn = tx.conn();
    let (platform, account) = target.columns();
    let sql = "DELETE FROM pauses WHERE COALESCE(platform, '') = COALESCE($1, '') \
               AND COALESCE(account_id, 0) = COALESCE($2, 0)";
    let values = [platform.into(), account.into()];
    let ended = conn.execute_raw(statement(conn, sql, values)).await?.rows_affected();
    let name = target.name();
    Ok(if ended == 1 {
        format!("Resumed {name}.")
    } else {
        format!("Nothing changed: {name} was not paused.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_reads_back_and_nonsense_is_refused() {
        for text in ["all", "platform:bluesky", "account:7"] {
            assert_eq!(text.parse::<PauseTarget>().unwrap().to_string(), text);
        }
        for bad in ["", "All", "platform:", "platform:myspace", "account:x", "account", "post:1"] {
            assert_eq!(bad.parse::<PauseTarget>().unwrap_err().code(), Code::InvalidField, "{bad}");
        }
    }
}
