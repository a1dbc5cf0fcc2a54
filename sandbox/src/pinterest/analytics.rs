//! Reports on the account and on pins, <https://developers.pinterest.com/docs/api/v5/user_account-analytics>.

use chrono::NaiveDate;
use serde_json::{Map, Value, json};

use super::{Cx, Pinterest, access, failure};
use crate::env::utc;
use crate::metrics::{self, MetricSubject, MetricValue, MissingReason};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The number of days that reports go back.
const WINDOW: i64 = 90;

/// The number of days after which a day is final.
const READY: i64 = 2;

/// What a report is about: the account, or a pin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Account,
    Pin,
}

/// The metrics of an account, and their names here; what is calculated of them has none.
const OF_ACCOUNT: [(&str, &str); 9] = [
    ("ENGAGEMENT", "engagements"),
    ("ENGAGEMENT_RATE", ""),
    ("IMPRESSION", "views"),
    ("OUTBOUND_CLICK", "outbound_clicks"),
    ("OUTBOUND_CLICK_RATE", ""),
    ("PIN_CLICK", "pin_clicks"),
    ("PIN_CLICK_RATE", ""),
    ("SAVE", "saves"),
    ("SAVE_RATE", ""),
];

/// The metrics of a pin in a period.
const OF_PIN: [(&str, &str); 13] = [
    ("IMPRESSION", "impressions"),
    ("OUTBOUND_CLICK", "outbound_clicks"),
    ("PIN_CLICK", "pin_clicks"),
    ("SAVE", "saves"),
    ("SAVE_RATE", ""),
    ("USER_FOLLOW", ""),
    ("PROFILE_VISIT", ""),
    ("VIDEO_MRC_VIEW", "plays"),
    ("VIDEO_10S_VIEW", ""),
    ("QUARTILE_95_PERCENT_VIEW", ""),
    ("VIDEO_V50_WATCH_TIME", ""),
    ("VIDEO_START", ""),
    ("VIDEO_AVG_WATCH_TIME", ""),
];

/// The metrics of a pin since it was made.
const OF_LIFE: [(&str, &str); 2] = [("TOTAL_COMMENTS", "comments"), ("TOTAL_REACTIONS", "likes")];

impl Kind {
    fn metrics(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Account => OF_ACCOUNT.to_vec(),
            Self::Pin => OF_PIN.iter().chain(&OF_LIFE).copied().collect(),
        }
    }
}

struct ReportRequest {
    from: NaiveDate,
    to: NaiveDate,
    today: NaiveDate,
    /// The requested metrics, and their names here.
    metrics: Vec<(&'static str, &'static str)>,
}

fn report_request(cx: &Cx, kind: Kind) -> Result<ReportRequest, Reply> {
    let wrong = || failure::error(400, 1, "Invalid request: start_date, end_date or metric_types.");
    let date =
        |name: &str| cx.call.query_value(name).unwrap_or_default().parse().map_err(|_| wrong());
    let (from, to): (NaiveDate, NaiveDate) = (date("start_date")?, date("end_date")?);
    let today = utc(cx.now_ms()).date_naive();
    if from > to || (today - from).num_days() > WINDOW {
        return Err(wrong());
    }
    let metrics = match cx.call.query_value("metric_types").filter(|asked| !asked.is_empty()) {
        Some(asked) => asked.split(',').map(|name| known(kind, name)).collect::<Result<_, _>>()?,
        // A pin's have to be named.
        None if kind == Kind::Account => kind.metrics(),
        None => return Err(wrong()),
    };
    Ok(ReportRequest { from, to, today, metrics })
}

/// Returns a metric by its name.
fn known(kind: Kind, name: &str) -> Result<(&'static str, &'static str), Reply> {
    let all = kind.metrics();
    all.iter().find(|(theirs, _)| *theirs == name).copied().ok_or_else(|| refused(name, &all))
}

/// Returns the refusal of a metric, which is one of the whole call.
fn refused(name: &str, known: &[(&str, &str)]) -> Reply {
    let names: Vec<String> = known.iter().map(|(theirs, _)| format!("'{theirs}'")).collect();
    failure::invalid(&format!("'{name}' is not one of [{}]", names.join(", ")))
}

/// Returns the metrics by Pinterest's names.
fn metric_values(
    account: &Account<Pinterest>,
    of: MetricSubject<'_>,
    metrics: &[(&str, &str)],
) -> Result<Map<String, Value>, Reply> {
    let mut found = Map::new();
    for (theirs, name) in metrics {
        if account.metric(of, name) == Some(MetricValue::Not(MissingReason::Refused)) {
            return Err(refused(theirs, &[]));
        }
        let mut cell = json!({"value": null});
        metrics::fill_metrics(account, of, &mut cell, &[("/value", name)])?;
        if !cell["value"].is_null() {
            found.insert((*theirs).to_owned(), cell["value"].clone());
        }
    }
    Ok(found)
}

/// `GET /v5/user_account/analytics`
pub(super) fn of_account(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scopes(cx, &["user_accounts:read"])?;
    let asked = report_request(cx, Kind::Account)?;
    let (mut days, mut sums) = (Vec::new(), Map::new());
    for day in asked.from.iter_days().take_while(|day| *day <= asked.to) {
        let text = day.to_string();
        let metrics = metric_values(&account, MetricSubject::Day(&text), &asked.metrics)?;
        for (name, value) in &metrics {
            let sum = sums.get(name).and_then(Value::as_i64).unwrap_or(0);
            sums.insert(name.clone(), json!(sum + value.as_i64().unwrap_or(0)));
        }
        let age = (asked.today - day).num_days();
        let status = match () {
            () if age < 1 => "BEFORE_PIN_DATA_RETENTION_PERIOD",
            () if age <= READY => "PROCESSING",
            () => "READY",
        };
        days.push(json!({"date": text, "data_status": status, "metrics": metrics}));
    }
    Ok(Reply::ok(&json!({"all": {"daily_metrics": days, "summary_metrics": sums}})))
}

/// `GET /v5/pins/{id}/analytics`: what was asked for is in the summary; the lifetime has its own metrics alone.
pub(super) fn of_pin(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scopes(cx, &["boards:read", "pins:read"])?;
    let asked = report_request(cx, Kind::Pin)?;
    let named = cx.call.segment(2).to_owned();
    let is_there = named.parse().is_ok_and(|id| account.read(|state| state.pins.contains_key(&id)));
    if !is_there {
        return Err(failure::error(404, 50, "Pin not found."));
    }
    let (life, period): (Vec<_>, Vec<_>) =
        asked.metrics.iter().copied().partition(|metric| OF_LIFE.contains(metric));
    let of = MetricSubject::Post(&named);
    let (life, period) =
        (metric_values(&account, of, &life)?, metric_values(&account, of, &period)?);
    Ok(Reply::ok(&json!({"all": {
        "daily_metrics": [], "lifetime_metrics": life, "summary_metrics": period,
    }})))
}
