//! Statistics of pages, and of posts of pages and members,
//! <https://learn.microsoft.com/linkedin/marketing/community-management/organizations/share-statistics>.

use std::time::Duration;

use async_trait::async_trait;
use chrono::DateTime;
use serde_json::Value;

use super::{client, is_organization};
use crate::{
    Account, Per, RateLimit, Result,
    analytics::{
        Analytics, AskedPost, Daily, Day, DayNumbers, Display, Number, Numbers, Reading,
        Unmeasured, counted, denied, is_absent, is_denied, name,
    },
};

const OF_PAGES: &str = "rw_organization_admin";
const OF_MEMBERS: &str = "r_member_postAnalytics";

/// 100,000 calls a day for an app.
const QUOTA: RateLimit = RateLimit::new(Per::App, 100_000, 86_400);

const DAILY: Daily = Daily {
    zone: "UTC",
    lag: Duration::from_secs(48 * 3_600),
    reread: 7,
    backfill: 90,
    engagements: &[name::LIKES, name::COMMENTS, name::SHARES],
    periods: &[],
    display: &[
        Display::sum("page_views", "Page views"),
        Display::sum("unique_impressions", "Unique impressions").of(name::REACH),
        Display::sum("clicks", "Clicks").of(name::CLICKS),
    ],
};

const STATISTICS: [(&str, &str); 6] = [
    ("/totalShareStatistics/uniqueImpressionsCount", name::REACH),
    ("/totalShareStatistics/impressionCount", name::IMPRESSIONS),
    ("/totalShareStatistics/likeCount", name::LIKES),
    ("/totalShareStatistics/commentCount", name::COMMENTS),
    ("/totalShareStatistics/shareCount", name::SHARES),
    ("/totalShareStatistics/clickCount", name::CLICKS),
];

/// The metrics of a member's post; each needs its own call.
const OF_MEMBER: [(&str, &str); 5] = [
    ("REACTION", name::LIKES),
    ("COMMENT", name::COMMENTS),
    ("MEMBERS_REACHED", name::REACH),
    ("IMPRESSION", name::IMPRESSIONS),
    ("RESHARE", name::SHARES),
];

/// Reads the metrics of LinkedIn.
pub(super) struct Statistics;

#[async_trait]
impl Analytics for Statistics {
    fn quota(&self) -> Option<RateLimit> {
        Some(QUOTA)
    }

    fn daily(&self, account: &Account) -> Option<&'static Daily> {
        is_organization(account).then_some(&DAILY)
    }

    fn measures_accounts(&self) -> bool {
        true
    }

    async fn followers(&self, reading: &Reading<'_>) -> Result<Number> {
        reading.allow().await?;
        match client::network_size(reading.session).await {
            Ok(found) => Ok(found["firstDegreeSize"].as_i64().ok_or(Unmeasured::Platform)),
            Err(error) if is_denied(&error) => {
                reading.lacks(OF_PAGES);
                Ok(Err(Unmeasured::Permission))
            }
            Err(error) => Err(error),
        }
    }

    async fn days(&self, reading: &Reading<'_>, days: &[Day]) -> Result<Vec<DayNumbers>> {
        let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(Vec::new()) };
        let range = (first.since.timestamp_millis(), last.until.timestamp_millis());
        let mut read: Vec<DayNumbers> = days
            .iter()
            .map(|day| DayNumbers { date: day.date, numbers: Numbers::new(), is_final: None })
            .collect();
        for finder in
            ["organizationalEntityShareStatistics", "organizationalEntityFollowerStatistics"]
        {
            reading.allow().await?;
            match client::statistics(reading.session, finder, range).await {
                Ok(elements) => elements.iter().for_each(|element| add(&mut read, element)),
                Err(error) if is_denied(&error) => reading.lacks(OF_PAGES),
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    async fn posts(
        &self,
        reading: &Reading<'_>,
        posts: &[AskedPost],
    ) -> Result<Vec<Option<Numbers>>> {
        let mut read = Vec::new();
        for post in posts {
            let is_page = is_organization(&reading.session.account);
            read.push(if is_page {
                of_page(reading, post).await?
            } else {
                of_member(reading, post).await?
            });
        }
        Ok(read)
    }
}

/// Adds the metrics of an element to its day.
fn add(days: &mut [DayNumbers], element: &Value) {
    let start = element["timeRange"]["start"].as_i64().and_then(DateTime::from_timestamp_millis);
    let Some(date) = start.map(|start| start.date_naive()) else { return };
    let Some(day) = days.iter_mut().find(|day| day.date == date) else { return };
    if element["totalShareStatistics"].is_object() {
        let mut numbers = counted(element, &STATISTICS);
        if let Some(views) = numbers.remove(name::IMPRESSIONS) {
            numbers.insert(name::VIEWS, views);
        }
        day.numbers.extend(numbers);
    }
    let gains = &element["followerGains"];
    if let (Some(organic), Some(paid)) =
        (gains["organicFollowerGain"].as_i64(), gains["paidFollowerGain"].as_i64())
    {
        day.numbers.insert(name::FOLLOWER_DELTA, Ok(organic + paid));
    }
}

async fn of_page(reading: &Reading<'_>, post: &AskedPost) -> Result<Option<Numbers>> {
    reading.allow().await?;
    match client::share_statistics(reading.session, &post.id).await {
        Ok(elements) => Ok(Some(match elements.first() {
            Some(element) => counted(element, &STATISTICS),
            None => STATISTICS.iter().map(|(_, ours)| (*ours, Err(Unmeasured::Pending))).collect(),
        })),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) if is_denied(&error) => {
            reading.lacks(OF_PAGES);
            Ok(Some(denied(&STATISTICS)))
        }
        Err(error) => Err(error),
    }
}

async fn of_member(reading: &Reading<'_>, post: &AskedPost) -> Result<Option<Numbers>> {
    let mut numbers = Numbers::new();
    for (theirs, ours) in OF_MEMBER {
        reading.allow().await?;
        let told = match client::member_statistics(reading.session, &post.id, theirs).await {
            Ok(elements) => {
                let count = elements.first().and_then(|one| one["count"].as_i64());
                count.ok_or(Unmeasured::Pending)
            }
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) if is_denied(&error) => {
                reading.lacks(OF_MEMBERS);
                Err(Unmeasured::Permission)
            }
            Err(error) => return Err(error),
        };
        numbers.insert(ours, told);
        if told == Err(Unmeasured::Permission) {
            return Ok(Some(denied(&OF_MEMBER)));
        }
    }
    Ok(Some(numbers))
}
