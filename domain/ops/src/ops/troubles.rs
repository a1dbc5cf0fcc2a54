//! What several tenants have at once at a network. Alarms look at nothing else of what tenants can bring about.

use std::collections::BTreeMap;

use fanfare_core::{
    Domain,
    db::statement,
    error::Result,
    troubles::{SLICES, Sign},
};
use fanfare_entities::Millis;
use sea_orm::ConnectionTrait;

use super::{
    networks,
    samples::{self, MINUTE},
};

/// The time that is looked at.
const SPAN: Millis = 15 * MINUTE;

/// The attempts, or refused tokens, up to which nothing follows from their shares.
const FEW_ATTEMPTS: i64 = 10;
const FEW_TOKENS: i64 = 3;

/// A trouble of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkTrouble {
    /// The network.
    pub platform: &'static str,
    /// `outcome_unknown`, `failing` or `tokens`.
    pub trouble: &'static str,
    /// For how many workspaces, up to sixteen; 0 while it is one tenant's alone, though the service has several.
    pub workspaces: u64,
}

/// Counts by part of the workspaces.
type Parts = [i64; SLICES as usize];

#[derive(Debug, Default)]
struct Signs {
    well: Parts,
    failed: Parts,
    unknown: Parts,
    tokens: Parts,
}

/// Returns each trouble of each network in the last quarter of an hour.
///
/// # Errors
/// The database's.
pub async fn of_networks(cx: &Domain) -> Result<Vec<NetworkTrouble>> {
    let least = if has_several_workspaces(cx).await? { 2 } else { 1 };
    let mut signs: BTreeMap<String, Signs> = BTreeMap::new();
    for sum in samples::sums(cx, cx.clock.now() - SPAN, 48 * 60 * MINUTE).await? {
        let Some((slice, sign)) = Sign::read(&sum.measure) else { continue };
        let of = signs.entry(sum.platform).or_default();
        let parts = match sign {
            Sign::Well => &mut of.well,
            Sign::Failed => &mut of.failed,
            Sign::Unknown => &mut of.unknown,
            Sign::Tokens => &mut of.tokens,
        };
        parts[usize::from(slice)] += sum.n;
    }
    let none = Signs::default();
    let of = |platform| {
        let signs = signs.get(platform).unwrap_or(&none);
        let all = [
            ("outcome_unknown", above(&signs.unknown)),
            ("failing", failing(signs)),
            ("tokens", if total(&signs.tokens) > FEW_TOKENS { above(&signs.tokens) } else { 0 }),
        ];
        all.map(|(trouble, found)| NetworkTrouble {
            platform,
            trouble,
            workspaces: if found >= least { found } else { 0 },
        })
    };
    Ok(networks::platform_ids().into_iter().flat_map(of).collect())
}

/// Whether more than one tenant is there. What the only one has is the operator's to know.
async fn has_several_workspaces(cx: &Domain) -> Result<bool> {
    let conn = &cx.db.read;
    let sql = "SELECT count(*) AS n FROM (SELECT 1 FROM workspaces LIMIT 2) AS found";
    let row = conn.query_one_raw(statement(conn, sql, [])).await?;
    let counted = row.map(|row| row.try_get::<i64>("", "n")).transpose()?;
    Ok(counted.is_some_and(|n| n > 1))
}

fn total(parts: &Parts) -> i64 {
    parts.iter().sum()
}

fn above(parts: &Parts) -> u64 {
    parts.iter().map(|n| u64::from(*n > 0)).sum()
}

/// Returns for how many parts most attempts fail, if that is so for most parts: however many one tenant makes, it is one part.
fn failing(signs: &Signs) -> u64 {
    if total(&signs.well) + total(&signs.failed) <= FEW_ATTEMPTS {
        return 0;
    }
    let parts = || signs.well.iter().zip(&signs.failed);
    let active = parts().filter(|(well, failed)| *well + *failed > 0).count();
    let failing = parts().filter(|(well, failed)| failed > well).count();
    if failing * 2 > active { failing as u64 } else { 0 }
}
