//! The targets of a request: reads them, finds their accounts, and replaces brands by theirs.

use std::collections::{BTreeMap, HashMap, HashSet};

use fanfare_core::{
    Act,
    access::membership_for_account,
    error::{Code, Error, Fix, Result, violation},
    input::strict,
};
use fanfare_entities::{
    AccountId, BrandId, Millis, SuggestionId, account,
    account::{AccountStatus, Column},
};
use sea_orm::{ColumnTrait, QueryFilter, QueryOrder};
use serde_json::{Map, Value};

use super::{
    faults::{Faults, within},
    input::NewTarget,
    levels::Level,
};
use crate::{
    accounts::{self, by_name},
    brands,
    posts::{
        create::{parse_time, with_timezone_fix},
        duplicates::Guard,
    },
};

/// The most targets of a set.
pub const MAX_TARGETS: usize = 50;

/// An account that a set is for.
pub struct Target {
    /// The index in the request of the target that names it.
    pub index: usize,
    /// The account.
    pub account: account::Model,
    /// The content of its own.
    pub own: Level,
    /// Its time.
    pub time: TargetTime,
    /// The suggestion that the post is made from.
    pub suggestion: Option<SuggestionId>,
    /// The treatment of it if its account has the like already.
    pub guard: Option<Guard>,
}

/// The time of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetTime {
    /// That of the set.
    Shared,
    /// Its own.
    Own(Millis),
    /// After that of the set, by so many ms.
    After(Millis),
}

/// A target as it was read.
struct Read {
    index: usize,
    new: NewTarget,
    time: TargetTime,
    /// The body, by which equal targets are recognised.
    body: Value,
}

/// Reads the targets of a request, and finds their accounts, in the order of the request. What is wrong with one is added to
/// `faults`.
///
/// # Errors
/// The database's.
pub async fn expand(act: &Act, bodies: Vec<Value>, faults: &mut Faults) -> Result<Vec<Target>> {
    if bodies.is_empty() || bodies.len() > MAX_TARGETS {
        faults.own.push(wrong_number(bodies.len()));
        return Ok(Vec::new());
    }
    let now = act.cx.clock.now();
    let mut read = Vec::with_capacity(bodies.len());
    for (index, body) in bodies.into_iter().enumerate() {
        read.extend(read_one(act, (index, body, now), faults));
    }
    let known = accounts_by_id(act, &read).await?;
    let (mut targets, mut direct) = (Vec::new(), HashMap::new());
    let mut elsewhere = false;
    for one in &read {
        match account_of(act, one, &known).await {
            Ok(Found::Brand(brand)) => {
                let found = accounts_of(act, one, brand, faults).await?;
                targets.extend(found.into_iter().map(|account| (one, account, true)));
            }
            Ok(Found::One(account)) => {
                let account = *account;
                if let Some(first) = direct.insert(account.id, one) {
                    faults.at_target(one.index, twice(first, one));
                    direct.insert(account.id, first);
                    continue;
                }
                targets.push((one, account, false));
            }
            Ok(Found::Elsewhere) => elsewhere = true,
            Err(error) => faults.of_target_alone(one.index, error)?,
        }
    }
    if elsewhere {
        let message = "The targets name accounts of different workspaces.";
        let remedy = "Make one set for each workspace.";
        faults.own.push(violation(Code::MixedWorkspaces, "targets", message, remedy));
    }
    // An account that is named by itself is not taken from its brand, and from two brands it is taken once.
    let mut seen = HashSet::new();
    targets.retain(|(_, account, of_brand)| {
        !of_brand || (!direct.contains_key(&account.id) && seen.insert(account.id))
    });
    if targets.len() > MAX_TARGETS {
        faults.own.push(wrong_number(targets.len()));
        return Ok(Vec::new());
    }
    let target = |(one, account, _): (&Read, account::Model, bool)| Target {
        index: one.index,
        account,
        own: one.new.level(),
        time: one.time,
        suggestion: one.new.suggestion_id.map(SuggestionId),
        guard: one.new.duplicates,
    };
    Ok(targets.into_iter().map(target).collect())
}

fn wrong_number(count: usize) -> fanfare_core::error::Violation {
    let message = format!("The set has {count} targets; 1 to {MAX_TARGETS} are allowed.");
    let remedy = format!("Send 1 to {MAX_TARGETS} targets.");
    let limit = if count == 0 { 1 } else { MAX_TARGETS };
    violation(Code::InvalidField, "targets", message, remedy)
        .with_limit(limit, count)
        .in_unit("targets")
}

/// Reads a target; adds everything that is wrong with its form to `faults`.
fn read_one(
    act: &Act,
    (index, body, now): (usize, Value, Millis),
    faults: &mut Faults,
) -> Option<Read> {
    if !body.is_object() {
        let message = "A target must be an object.";
        let remedy = "Send an object with account_id.";
        faults.at_target(index, violation(Code::InvalidField, "", message, remedy));
        return None;
    }
    let (new, flaws): (NewTarget, _) = match strict::read_partial(body.clone()) {
        Ok(read) => read,
        Err(error) => {
            error.into_violations().into_iter().for_each(|one| faults.at_target(index, one));
            return None;
        }
    };
    flaws.into_iter().for_each(|one| faults.at_target(index, one));
    for broken in wrong_names(&new).into_iter().chain(wrong_times(&new)) {
        faults.at_target(index, broken);
    }
    let (at, broken) = parse_time(new.scheduled_at.as_deref(), new.timezone.as_deref(), now);
    for one in with_timezone_fix(act, broken, new.scheduled_at.as_deref()) {
        faults.at_target(index, one);
    }
    let time = match (at, new.offset_seconds) {
        (Some(at), _) => TargetTime::Own(at),
        (None, Some(seconds)) => TargetTime::After(seconds.saturating_mul(1_000)),
        (None, None) => TargetTime::Shared,
    };
    Some(Read { index, new, time, body })
}

fn wrong_names(new: &NewTarget) -> Option<fanfare_core::error::Violation> {
    let names = [
        new.account_id.as_ref().map(|_| "account_id"),
        new.username.as_ref().map(|_| "username"),
        new.workspace_client_id.map(|_| "workspace_client_id"),
    ];
    let given: Vec<_> = names.into_iter().flatten().collect();
    let conflict = |field: &str, message: String| {
        violation(Code::ConflictingFields, field, message, "Name the target in one way.")
    };
    match given.as_slice() {
        [] => {
            let message =
                "A target needs account_id, username with platform, or workspace_client_id.";
            Some(violation(Code::FieldRequired, "account_id", message, "Name an account."))
        }
        [_, second, ..] => {
            Some(conflict(second, format!("The target is named by {} and by {second}.", given[0])))
        }
        ["username"] if new.platform.is_none() => Some(violation(
            Code::FieldRequired,
            "platform",
            "A username needs its platform.",
            "Send platform, too.",
        )),
        [one] if *one != "username" && new.platform.is_some() => {
            Some(conflict("platform", format!("platform goes with username, not with {one}.")))
        }
        [one] if *one != "workspace_client_id" && new.platforms.is_some() => Some(conflict(
            "platforms",
            format!("platforms goes with workspace_client_id, not with {one}."),
        )),
        _ => None,
    }
}

fn wrong_times(new: &NewTarget) -> Option<fanfare_core::error::Violation> {
    let both = new.scheduled_at.is_some() && new.offset_seconds.is_some();
    both.then(|| {
        let message = "The target has a time and a distance from that of the set.";
        let remedy = "Send scheduled_at or offset_seconds.";
        violation(Code::ConflictingFields, "offset_seconds", message, remedy)
    })
}

/// The account or brand that a target names.
enum Found {
    One(Box<account::Model>),
    Brand(BrandId),
    /// An account of another workspace of the caller.
    Elsewhere,
}

fn id_of(new: &NewTarget) -> Option<AccountId> {
    let given = new.account_id.as_ref()?;
    given.as_i64().or_else(|| given.as_str()?.parse().ok()).map(AccountId)
}

async fn accounts_by_id(act: &Act, read: &[Read]) -> Result<BTreeMap<AccountId, account::Model>> {
    let ids: Vec<_> = read.iter().filter_map(|one| id_of(&one.new)).collect();
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let rows = accounts::visible(act).filter(Column::Id.is_in(ids)).all(&act.cx.db.read).await?;
    Ok(rows.into_iter().map(|row| (row.id, row)).collect())
}

async fn account_of(
    act: &Act,
    one: &Read,
    known: &BTreeMap<AccountId, account::Model>,
) -> Result<Found> {
    if let Some(brand) = one.new.workspace_client_id {
        return Ok(Found::Brand(brands::find(act, BrandId(brand)).await?.id));
    }
    let id = match (&one.new.username, &one.new.platform) {
        (Some(username), Some(platform)) => {
            let mut fields = Map::new();
            fields.insert("username".to_owned(), username.as_str().into());
            fields.insert("platform".to_owned(), platform.as_str().into());
            by_name::resolve_account_id(&act.cx, &act.membership, &mut fields).await?;
            let id = AccountId(fields["account_id"].as_i64().unwrap_or_default());
            return accounts::find(act, id).await.map(|one| Found::One(Box::new(one)));
        }
        _ => id_of(&one.new),
    };
    let absent = || {
        let name = one.new.account_id.as_ref().map(ToString::to_string).unwrap_or_default();
        Error::new(Code::AccountNotFound, format!("There is no account {name}."))
    };
    let id = id.ok_or_else(absent)?;
    if let Some(account) = known.get(&id) {
        return Ok(Found::One(Box::new(account.clone())));
    }
    match membership_for_account(&act.cx, &act.caller, id).await {
        Ok(other) if other.workspace_id != act.membership.workspace_id => Ok(Found::Elsewhere),
        _ => Err(absent()),
    }
}

/// Returns the connected accounts of a brand.
async fn accounts_of(
    act: &Act,
    one: &Read,
    brand: BrandId,
    faults: &mut Faults,
) -> Result<Vec<account::Model>> {
    let mut query = accounts::visible(act)
        .filter(Column::BrandId.eq(brand))
        .filter(Column::Status.eq(AccountStatus::Connected))
        .order_by_asc(Column::Id);
    if let Some(platforms) = &one.new.platforms {
        for (place, name) in platforms.iter().enumerate() {
            if let Err(error) = crate::platforms::parse(&format!("platforms[{place}]"), name) {
                error
                    .into_violations()
                    .into_iter()
                    .for_each(|bad| faults.at_target(one.index, bad));
            }
        }
        query = query.filter(Column::Platform.is_in(platforms.iter().map(String::as_str)));
    }
    let found = query.all(&act.cx.db.read).await?;
    if found.is_empty() && !faults.has(one.index) {
        let message = match one.new.platforms {
            Some(_) => "The brand has no connected account on these platforms.",
            None => "The brand has no connected account.",
        };
        let remedy = "Connect an account for it, or leave the target out.";
        faults.at_target(
            one.index,
            violation(Code::NoAccounts, "workspace_client_id", message, remedy),
        );
    }
    Ok(found)
}

/// Returns the violation of an account that is named twice by itself.
fn twice(first: &Read, second: &Read) -> fanfare_core::error::Violation {
    let message = format!("The target names the same account as target {}.", first.index);
    let broken = violation(Code::DuplicateTarget, "", message, "Name each account once.");
    let same = first.body == second.body;
    broken.with_fix(same.then(|| Fix::Remove { path: String::new() }))
}

/// Reads an object of content that stands at `prefix`; adds what is wrong with its form to the set's own faults.
pub fn read_overrides<T>(prefix: &str, body: Value, faults: &mut Faults) -> Option<T>
where
    T: serde::de::DeserializeOwned + schemars::JsonSchema + 'static,
{
    if !body.is_object() {
        let message = format!("{prefix} must be an object.");
        faults.own.push(violation(Code::InvalidField, prefix, message, "Send an object."));
        return None;
    }
    match strict::read_partial(body) {
        Ok((read, flaws)) => {
            flaws.into_iter().for_each(|one| faults.own.push(within(prefix, one)));
            Some(read)
        }
        Err(error) => {
            let broken = error.into_violations();
            broken.into_iter().for_each(|one| faults.own.push(within(prefix, one)));
            None
        }
    }
}
