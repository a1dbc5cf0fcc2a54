//! Reports on the account and on pins, <https://developers.pinterest.com/docs/api/v5/user_account-analytics>.

use chrono::NaiveDate;
use serde_json::{Map, Value, json};

use super::{Cx, Pinterest, access, failure};
use crate::env::utc;
use crate::metrics::{self, MetricSubject};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The number of days that reports go back.
const WINDOW: i64 = 90;

/// The number of days after which a day is final.
const READY: i64 = 2;

/// Returns our name of a metric; `of_pin` distinguishes pins from accounts.
fn metric_name(metric: &str, of_pin: bool) -> Option<&'static str> {
    Some(match metric {
        "IMPRESSION" if of_pin => "impressions",
        "IMPRESSION" => "views",
        "SAVE" => "saves",
        "PIN_CLICK" => "pin_clicks",
        "OUTBOUND_CLICK" => "outbound_clicks",
        "PROFILE_VISIT" => "profile_views",
        "ENGAGEMENT" => "engagements",
        "VIDEO_MRC_VIEW" => "plays",
        _ => return None,
    })
}

struct ReportRequest {
    from: NaiveDate,
    to: NaiveDate,
    today: NaiveDate,
    metrics: Vec<String>,
}

fn report_request(cx: &Cx) -> Result<ReportRequest, Reply> {
    let wrong = || failure::error(400, 1, "Invalid request: start_date, end_date or metric_types.");
    let date =
        |name: &str| cx.call.query_value(name).unwrap_or_default().parse().map_err(|_| wrong());
    let (from, to): (NaiveDate, NaiveDate) = (date("start_date")?, date("end_date")?);
    let today = utc(cx.now_ms()).date_naive();
    let metrics = cx.call.query_value("metric_types").unwrap_or_default();
    if from > to || (today - from).num_days() > WINDOW {
        return Err(wrong());
    }
    Ok(ReportRequest { from, to, today, metrics: metrics.split(',').map(str::to_owned).collect() })
}

/// Returns the metrics by Pinterest's names.
fn metric_values(
    account: &Account<Pinterest>,
    of: MetricSubject<'_>,
    metrics: &[String],
    of_pin: bool,
) -> Result<Map<String, Value>, Reply> {
    let mut found = Map::new();
    for metric in metrics {
        let wrong = || failure::error(400, 1, "Invalid request: metric_types.");
        let name = metric_name(metric, of_pin).ok_or_else(wrong)?;
        let mut cell = json!({"value": null});
        metrics::fill_metrics(account, of, &mut cell, &[("/value", name)])?;
        if !cell["value"].is_null() {
            found.insert(metric.clone(), cell["value"].clone());
        }
    }
    Ok(found)
}

/// `GET /v5/user_account/analytics`
pub(super) fn of_account(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scopes(cx, &["user_accounts:read"])?;
    let asked = report_request(cx)?;
    let mut days = Vec::new();
    for day in asked.from.iter_days().take_while(|day| *day <= asked.to) {
        let text = day.to_string();
        let metrics = metric_values(&account, MetricSubject::Day(&text), &asked.metrics, false)?;
        let age = (asked.today - day).num_days();
        let status = match () {
            () if age < 1 => "BEFORE_PIN_DATA_RETENTION_PERIOD",
            () if age <= READY => "PROCESSING",
            () => "READY",
        };
        days.push(json!({"date": text, "data_status": status, "metrics": metrics}));
    }
    Ok(Reply::ok(&json!({"all": {"daily_metrics": days, "summary_metrics": {}}})))
}

/// `GET /v5/pins/{id}/analytics`
pub(super) fn of_pin(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scopes(cx, &["pins:read"])?;
    let asked = report_request(cx)?;
    let named = cx.call.segment(2).to_owned();
    let is_there = named.parse().is_ok_and(|id| account.read(|state| state.pins.contains_key(&id)));
    if !is_there {
        return Err(failure::error(404, 50, "Pin not found."));
    }
    let metrics = metric_values(&account, MetricSubject::Post(&named), &asked.metrics, true)?;
    Ok(Reply::ok(
        &json!({"all": {"lifetime_metrics": metrics, "summary_metrics": {}, "daily_metrics": []}}),
    ))
}
