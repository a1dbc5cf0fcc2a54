//! Before a public call: may it be made now? A network's limits hold for all workers together.

use std::{collections::HashMap, time::Duration};

use fanfare_domain::{
    Domain, Result,
    posts::work::{Spent, spent},
};
use fanfare_entities::{AccountId, Millis, account};
use fanfare_limits::{Permit, Rate, Request, Subject};
use fanfare_platforms::{Pace, Per, Phase, Platform, Session};

use super::verdict::millis;

/// Added to each limit's time: a network counts when a call arrives, and no two take equally long to get there.
const SLACK: Duration = Duration::from_millis(200);

/// Limits of this length are counted in the database too, which outlives every store of permits.
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// A call that is about to be made.
#[derive(Debug, Clone)]
pub struct Wanted {
    request: Request,
    account: AccountId,
    /// Most posts of the account in a day, if there is such a limit.
    daily: Option<u32>,
}

/// When it may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Now.
    Now,
    /// At this time; the call has a place in the line.
    At(Millis),
    /// The day's posts are used up until then.
    Exhausted(Millis),
}

impl Wanted {
    /// The call of a post's next step. What prepares a post is not counted, but waits too while its account is closed.
    pub fn of(
        post: i64,
        phase: Phase,
        platform: &dyn Platform,
        account: &account::Model,
        session: &Session,
        sandbox_limits: bool,
    ) -> Self {
        let paces = platform.spec().paces;
        let is_counted = phase == Phase::Commit && (sandbox_limits || !account.sandbox);
        let paces = if is_counted { paces } else { &[] };
        let app = platform.app(&session.account);
        let mut subjects = vec![Subject { name: account_name(account), rates: Vec::new() }];
        for pace in paces {
            let name = match pace.per {
                Per::Account => account_name(account),
                Per::Workspace => format!("workspace:{}:{}", place(account), account.workspace_id),
                Per::App => format!("app:{}:{}", place(account), app.as_deref().unwrap_or("own")),
            };
            let rate = Rate { limit: pace.calls, span: pace.span + SLACK };
            match subjects.iter_mut().find(|subject| subject.name == name) {
                Some(subject) => subject.rates.push(rate),
                None => subjects.push(Subject { name, rates: vec![rate] }),
            }
        }
        let of_day = |pace: &&Pace| pace.per == Per::Account && pace.span == DAY;
        let daily = paces.iter().find(of_day).map(|pace| pace.calls);
        let request = Request { id: post.to_string(), subjects };
        Self { request, account: account.id, daily }
    }
}

/// What an account is called among permits: the network's own account, which several workspaces may have connected.
pub fn account_name(account: &account::Model) -> String {
    format!("account:{}:{}", place(account), account.remote_id)
}

/// A network and its simulated twin are two places.
fn place(account: &account::Model) -> String {
    if account.sandbox { format!("{}:sandbox", account.platform) } else { account.platform.clone() }
}

/// Decides on a group of calls: one call of the store, and one statement if any has a limit by the day.
///
/// # Errors
/// The database's.
pub async fn decide(cx: &Domain, wanted: Vec<Wanted>) -> Result<Vec<Turn>> {
    let now = cx.clock.now();
    let daily = wanted.iter().filter(|one| one.daily.is_some()).map(|one| one.account);
    let mut spent = spent(cx, daily.collect(), now - millis(DAY)).await?;
    let exhausted: Vec<Option<Millis>> =
        wanted.iter().map(|one| exhausted(one, &mut spent)).collect();
    let open = wanted.iter().zip(&exhausted).filter(|(_, until)| until.is_none());
    let requests: Vec<Request> = open.map(|(one, _)| one.request.clone()).collect();
    let mut permits = cx.limits.permits(&requests).await.into_iter();
    let turn = |until: Option<Millis>| match until {
        Some(until) => Turn::Exhausted(until),
        None => match permits.next() {
            Some(Permit::After(wait)) => Turn::At(now + millis(wait)),
            Some(Permit::Now) | None => Turn::Now,
        },
    };
    Ok(exhausted.into_iter().map(turn).collect())
}

/// When the account may post again, if its day's posts are used up. Those that wait for it are spread as the day's posts
/// were allowed, so that they do not all come at once.
fn exhausted(wanted: &Wanted, spent: &mut HashMap<AccountId, Spent>) -> Option<Millis> {
    let limit = i64::from(wanted.daily?);
    let spent = spent.get_mut(&wanted.account).filter(|spent| spent.posts >= limit)?;
    let place = spent.posts - limit;
    spent.posts += 1;
    Some(spent.oldest + millis(DAY) + place * (millis(DAY) / limit.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_wait_for_the_day_to_pass_come_one_after_the_other() {
        let request = Request { id: "1".into(), subjects: Vec::new() };
        let wanted = Wanted { request, account: AccountId(7), daily: Some(10) };
        let mut spent = HashMap::from([(AccountId(7), Spent { posts: 9, oldest: 1_000 })]);
        assert_eq!(exhausted(&wanted, &mut spent), None);
        spent.insert(AccountId(7), Spent { posts: 10, oldest: 1_000 });
        assert_eq!(exhausted(&wanted, &mut spent), Some(86_401_000));
        assert_eq!(exhausted(&wanted, &mut spent), Some(86_401_000 + 8_640_000));
    }
}
