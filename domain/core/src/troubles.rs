//! What goes wrong at a network, counted by sixteenths of the workspaces, so that operators are called for what several tenants
//! have at once and never for what one of them brings about alone: a server of its own that drops answers, texts that a network
//! refuses, permissions that it takes back.
//!
//! The counts are samples of a minute beside the others (`samples`), which say how many and not whose.

use fanfare_entities::{Millis, WorkspaceId};
use fanfare_jobs::JobKind;
use sea_orm::ConnectionTrait;

use crate::{Domain, db::statement, error::Result};

/// The number of parts into which workspaces are divided.
pub const SLICES: u8 = 16;

/// The prefix of the measures.
pub const PREFIX: &str = "slice:";

/// A kind of trouble that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// An attempt at publishing a post that went well.
    Well,
    /// An attempt that failed.
    Failed,
    /// A call whose answer was lost, on a network that cannot be asked.
    Unknown,
    /// Tokens that the network refused.
    Tokens,
}

impl Sign {
    /// Every sign.
    pub const ALL: [Self; 4] = [Self::Well, Self::Failed, Self::Unknown, Self::Tokens];

    const fn name(self) -> &'static str {
        match self {
            Self::Well => "well",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Tokens => "tokens",
        }
    }

    /// Returns the measure under which this is counted for a workspace.
    #[must_use]
    pub fn measure(self, workspace: WorkspaceId) -> String {
        // The first bytes of such an id are a time; the last one is random.
        let slice = workspace.0.as_bytes()[15] % SLICES;
        format!("{PREFIX}{slice}:{}", self.name())
    }

    /// Reads a measure: the part of the workspaces, and what was counted.
    #[must_use]
    pub fn read(measure: &str) -> Option<(u8, Self)> {
        let (slice, name) = measure.strip_prefix(PREFIX)?.split_once(':')?;
        let sign = Self::ALL.into_iter().find(|sign| sign.name() == name)?;
        Some((slice.parse().ok().filter(|slice| *slice < SLICES)?, sign))
    }
}

/// Counts that a network refused tokens of this workspace. A count that cannot be written is lost: nothing waits for it.
pub async fn refused_tokens(cx: &Domain, platform: &str, workspace: WorkspaceId) {
    if let Err(error) = add(cx, platform, Sign::Tokens.measure(workspace)).await {
        tracing::debug!(%error, "refused tokens were not counted");
    }
}

async fn add(cx: &Domain, platform: &str, measure: String) -> Result<()> {
    const MINUTE: Millis = 60_000;
    let minute = cx.clock.now() / MINUTE * MINUTE;
    let sql = "INSERT INTO samples (minute, kind, platform, measure, n) VALUES ($1, $2, $3, $4, 1) \
               ON CONFLICT (minute, kind, platform, measure) DO UPDATE SET n = samples.n + 1";
    let kind = JobKind::PublishPost.as_str();
    let values = [minute.into(), kind.into(), platform.into(), measure.into()];
    let _ = cx.db.write.execute_raw(statement(&cx.db.write, sql, values)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_is_read_as_it_was_written_and_names_no_workspace() {
        let mut slices = std::collections::BTreeSet::new();
        for n in 0..=255_u8 {
            let mut bytes = [7_u8; 16];
            bytes[15] = n;
            let workspace = WorkspaceId(uuid::Uuid::from_bytes(bytes));
            for sign in Sign::ALL {
                let (slice, read) = Sign::read(&sign.measure(workspace)).unwrap();
                assert_eq!(read, sign);
                slices.insert(slice);
            }
        }
        assert_eq!(slices.len(), usize::from(SLICES));
        for other in ["done", "slice:", "slice:16:well", "slice:x:well", "slice:1:fine"] {
            assert_eq!(Sign::read(other), None, "{other}");
        }
    }
}
