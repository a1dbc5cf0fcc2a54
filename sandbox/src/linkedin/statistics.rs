//! Statistics of pages and of posts,
//! <https://learn.microsoft.com/linkedin/marketing/community-management/organizations/share-statistics>.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Cx, Linkedin, access, failure};
use crate::metrics::{self, MetricSubject, days_between};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The scope of the statistics of pages.
const ADMIN: &str = "rw_organization_admin";

const OF_DAY: [(&str, &str); 6] = [
    ("uniqueImpressionsCount", "reach"),
    ("impressionCount", "views"),
    ("likeCount", "likes"),
    ("commentCount", "comments"),
    ("shareCount", "shares"),
    ("clickCount", "clicks"),
];

const OF_POST: [(&str, &str); 6] = [
    ("uniqueImpressionsCount", "reach"),
    ("impressionCount", "impressions"),
    ("likeCount", "likes"),
    ("commentCount", "comments"),
    ("shareCount", "shares"),
    ("clickCount", "clicks"),
];

/// The metrics of a member's post; those without a name of ours cannot be set, and nobody has seen them.
const OF_MEMBER: [(&str, &str); 14] = [
    ("REACTION", "likes"),
    ("COMMENT", "comments"),
    ("MEMBERS_REACHED", "reach"),
    ("IMPRESSION", "impressions"),
    ("RESHARE", "shares"),
    ("POST_SAVE", "saves"),
    ("LINK_CLICKS", "clicks"),
    ("POST_SEND", ""),
    ("PREMIUM_CTA_CLICKS", ""),
    ("FOLLOWER_GAINED_FROM_CONTENT", ""),
    ("PROFILE_VIEW_FROM_CONTENT", ""),
    ("VIDEO_PLAY", ""),
    ("VIDEO_WATCH_TIME", ""),
    ("VIDEO_VIEWER", ""),
];

fn metric_values(
    account: &Account<Linkedin>,
    of: MetricSubject<'_>,
    names: &[(&str, &str)],
) -> Result<Map<String, Value>, Reply> {
    let mut found = Map::new();
    for (theirs, ours) in names {
        let mut cell = json!({"value": null});
        metrics::fill_metrics(account, of, &mut cell, &[("/value", ours)])?;
        if !cell["value"].is_null() {
            found.insert((*theirs).to_owned(), cell["value"].clone());
        }
    }
    Ok(found)
}

fn elements(elements: &[Value]) -> HandlerResult {
    Ok(Reply::ok(&json!({"elements": elements, "paging": {"start": 0, "count": 10, "links": []}})))
}

fn administrator(cx: &Cx, what: &str) -> Result<Arc<Account<Linkedin>>, Reply> {
    access::version(cx)?;
    let account = access::account_with_scope(cx, &[ADMIN], what)?;
    let urn = access::page(&account.identity);
    let asked = cx.call.query_value("organizationalEntity");
    let asked = asked.or_else(|| cx.call.query_value("organization"));
    if asked.is_some_and(|asked| asked != urn) {
        return Err(failure::denied("Viewer is not an administrator of the organization"));
    }
    Ok(account)
}

/// `GET /rest/networkSizes/{organization}`
pub(super) fn size(cx: &Cx) -> HandlerResult {
    let account = administrator(cx, "GET /networkSizes")?;
    Ok(Reply::ok(
        &json!({"firstDegreeSize": account.metric_number(MetricSubject::Now, "followers")}),
    ))
}

/// Returns the requested days, as `(timeRange:(start:1,end:2),timeGranularityType:DAY)` names them.
fn asked_days(cx: &Cx) -> Vec<(String, i64, i64)> {
    let text = cx.call.query_value("timeIntervals").unwrap_or_default();
    let after = |name: &str| -> Option<i64> {
        let rest = text.split_once(&format!("{name}:"))?.1;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let (Some(start), Some(end)) = (after("start"), after("end")) else { return Vec::new() };
    let found = days_between(start / 1_000, end / 1_000).into_iter();
    found.map(|(date, end)| (date.to_string(), (end - 86_400) * 1_000, end * 1_000)).collect()
}

/// `GET /rest/organizationalEntityShareStatistics`: of the page by day, or of a post since it was published.
pub(super) fn shares(cx: &Cx) -> HandlerResult {
    let account = administrator(cx, "GET /organizationalEntityShareStatistics")?;
    let listed = ["shares", "ugcPosts"].iter().find_map(|name| cx.call.query_value(name));
    if let Some(list) = listed {
        let urn = list.trim_start_matches("List(").trim_end_matches(')').to_owned();
        is_there(&account, &urn)?;
        let found = metric_values(&account, MetricSubject::Post(&urn), &OF_POST)?;
        if found.is_empty() {
            return elements(&[]);
        }
        let kind = if urn.starts_with("urn:li:ugcPost:") { "ugcPost" } else { "share" };
        let organization = access::page(&account.identity);
        return elements(&[
            json!({"organizationalEntity": organization, kind: urn, "totalShareStatistics": found}),
        ]);
    }
    let mut list = Vec::new();
    for (date, start, end) in asked_days(cx) {
        let found = metric_values(&account, MetricSubject::Day(&date), &OF_DAY)?;
        if !found.is_empty() {
            list.push(json!({
                "organizationalEntity": access::page(&account.identity),
                "timeRange": {"start": start, "end": end},
                "totalShareStatistics": found,
            }));
        }
    }
    elements(&list)
}

/// `GET /rest/organizationalEntityFollowerStatistics`
pub(super) fn followers(cx: &Cx) -> HandlerResult {
    let account = administrator(cx, "GET /organizationalEntityFollowerStatistics")?;
    let mut list = Vec::new();
    for (date, start, end) in asked_days(cx) {
        if let Some(gain) = account.metric_number(MetricSubject::Day(&date), "follower_delta") {
            let gains = json!({"organicFollowerGain": gain, "paidFollowerGain": 0});
            list.push(json!({
                "organizationalEntity": access::page(&account.identity),
                "timeRange": {"start": start, "end": end},
                "followerGains": gains,
            }));
        }
    }
    elements(&list)
}

/// `GET /rest/organizationPageStatistics`: how often the page was seen, by day.
pub(super) fn pages(cx: &Cx) -> HandlerResult {
    let account = administrator(cx, "GET /organizationPageStatistics")?;
    let mut list = Vec::new();
    for (date, start, end) in asked_days(cx) {
        let found =
            metric_values(&account, MetricSubject::Day(&date), &[("pageViews", "page_views")])?;
        if !found.is_empty() {
            list.push(json!({
                "organization": access::page(&account.identity),
                "timeRange": {"start": start, "end": end},
                "totalPageStatistics": {"views": {"allPageViews": found}},
            }));
        }
    }
    elements(&list)
}

/// `GET /rest/memberCreatorPostAnalytics?q=entity`
pub(super) fn of_member(cx: &Cx) -> HandlerResult {
    access::version(cx)?;
    let scopes = ["r_member_postAnalytics"];
    let account = access::account_with_scope(cx, &scopes, "GET /memberCreatorPostAnalytics")?;
    let entity = cx.call.query_value("entity").unwrap_or_default();
    let urn = entity.split_once(':').map(|(_, urn)| urn.trim_end_matches(')')).unwrap_or_default();
    is_there(&account, urn)?;
    let kind = cx.call.query_value("queryType").unwrap_or_default();
    let name = OF_MEMBER.iter().find(|(theirs, _)| *theirs == kind).map(|(_, ours)| *ours);
    let name = name.ok_or_else(|| failure::malformed("queryType is not known"))?;
    let mut found = metric_values(&account, MetricSubject::Post(urn), &[("count", name)])?;
    if found.is_empty() {
        return elements(&[]);
    }
    found.insert("metricType".to_owned(), json!(kind));
    found.insert("targetEntity".to_owned(), json!({"share": urn}));
    elements(&[Value::Object(found)])
}

fn is_there(account: &Account<Linkedin>, urn: &str) -> Result<(), Reply> {
    let found = account.read(|state| state.posts.values().any(|post| post.urn == urn));
    if found { Ok(()) } else { Err(failure::missing(urn)) }
}
