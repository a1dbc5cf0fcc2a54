//! The number of videos that an account may still send, as its network says.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use fanfare_core::{Act, clock::Time, error::Result};
use fanfare_entities::{AccountId, Millis, account};
use fanfare_platforms::{self as platforms, ErrorKind};
use schemars::JsonSchema;
use sea_orm::EntityTrait;
use serde::Serialize;

use crate::accounts::{self, RefreshOutcome};

/// The time for which a number is kept, in ms.
const KEPT: Millis = 15 * 60_000;

/// The longest time that a network may take to answer while a caller waits.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The videos that the account may still send.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct VideoQuota {
    /// The number of videos.
    remaining: u64,
    /// Always null: the network does not say when the number is higher again.
    resets_at: Option<Time>,
}

/// The numbers that were read, by account, with the times of reading.
#[derive(Debug, Default)]
pub struct VideoQuotas(Mutex<HashMap<AccountId, (Millis, Option<u64>)>>);

impl VideoQuotas {
    /// Returns the number that is known; `None` if it is to be read now. Others are not to read it meanwhile.
    fn known(&self, account: AccountId, now: Millis) -> Option<Option<u64>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (at, _)| now - *at < KEPT);
        if let Some((_, left)) = known.get(&account) {
            return Some(*left);
        }
        known.insert(account, (now, None));
        None
    }

    fn note(&self, account: AccountId, now: Millis, left: Option<u64>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(account, (now, left));
    }
}

/// Returns the number for an account, which is read at most every 15 minutes; `None` if the network does not say it.
///
/// # Errors
/// The database's.
pub async fn video_quota(act: &Act, account: &account::Model) -> Result<Option<VideoQuota>> {
    let (numbers, now) = (act.cx.feature::<VideoQuotas>(), act.cx.clock.now());
    let left = match numbers.known(account.id, now) {
        Some(left) => left,
        None => {
            let left = read(act, account).await?;
            numbers.note(account.id, now, left);
            left
        }
    };
    Ok(left.map(|remaining| VideoQuota { remaining, resets_at: None }))
}

/// Asks the network, with fresh tokens if need be.
async fn read(act: &Act, account: &account::Model) -> Result<Option<u64>> {
    let platform = crate::platforms::from_row(&account.platform)?;
    let Some(session) = accounts::session(&act.cx, account).await? else { return Ok(None) };
    let network = platforms::find(platform);
    let asked = tokio::time::timeout(TIMEOUT, network.videos_left(&session)).await;
    match asked {
        Ok(Ok(left)) => return Ok(left),
        Ok(Err(error)) if error.kind == ErrorKind::TokenExpired => {}
        Ok(Err(_)) | Err(_) => return Ok(None),
    }
    let fresh = accounts::refresh(&act.cx, platform, account.id, account.secret_id).await?;
    if !matches!(fresh, RefreshOutcome::Fresh) {
        return Ok(None);
    }
    let row = account::Entity::find_by_id(account.id).one(&act.cx.db.write).await?;
    let Some(row) = row else { return Ok(None) };
    let Some(session) = accounts::session(&act.cx, &row).await? else { return Ok(None) };
    let asked = tokio::time::timeout(TIMEOUT, network.videos_left(&session)).await;
    Ok(asked.ok().and_then(std::result::Result::ok).flatten())
}

#[cfg(test)]
mod tests {
    use fanfare_entities::AccountId;

    use super::{KEPT, VideoQuotas};

    #[test]
    fn a_number_is_read_once_in_a_quarter_of_an_hour() {
        let (numbers, one, other) = (VideoQuotas::default(), AccountId(1), AccountId(2));
        assert_eq!(numbers.known(one, 0), None);
        assert_eq!(numbers.known(one, 1), Some(None), "another caller is reading it");
        numbers.note(one, 0, Some(7));
        assert_eq!(numbers.known(one, KEPT - 1), Some(Some(7)));
        assert_eq!(numbers.known(other, KEPT - 1), None);
        assert_eq!(numbers.known(one, KEPT), None);
    }
}
