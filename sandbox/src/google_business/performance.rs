//! Daily performance of a location, <https://developers.google.com/my-business/reference/performance/rest>. Both
//! locations return the metrics of the account.

use chrono::{Datelike, NaiveDate};
use serde_json::{Value, json};

use super::{Cx, access, failure};
use crate::metrics::{self, MetricSubject};
use crate::reply::{HandlerResult, Reply};

/// Google's metrics and their names here. Deprecated ones have none: their series stay empty.
const METRICS: [(&str, &str); 12] = [
    ("BUSINESS_IMPRESSIONS_DESKTOP_MAPS", "map_views"),
    ("BUSINESS_IMPRESSIONS_DESKTOP_SEARCH", "search_views"),
    ("BUSINESS_IMPRESSIONS_MOBILE_MAPS", "mobile_map_views"),
    ("BUSINESS_IMPRESSIONS_MOBILE_SEARCH", "mobile_search_views"),
    ("CALL_CLICKS", "calls"),
    ("WEBSITE_CLICKS", "website_clicks"),
    ("BUSINESS_DIRECTION_REQUESTS", "directions"),
    ("BUSINESS_BOOKINGS", "bookings"),
    ("MESSAGING_CLICKS", "messaging_clicks"),
    ("BUSINESS_FOOD_MENU_CLICKS", "food_menu_clicks"),
    ("BUSINESS_CONVERSATIONS", ""),
    ("BUSINESS_FOOD_ORDERS", ""),
];

/// The type of a metric in Google's messages.
const METRIC_TYPE: &str = "type.googleapis.com/google.mybusiness.performance.v1.DailyMetric";

/// `GET /v1/locations/{id}:fetchMultiDailyMetricsTimeSeries`: values of 0 are left out.
pub(super) fn read(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx)?;
    let (from, to) = (date(cx, "startDate")?, date(cx, "endDate")?);
    let asked: Vec<String> = cx
        .call
        .query_pairs()
        .filter(|(name, _)| name == "dailyMetrics")
        .map(|(_, metric)| metric)
        .collect();
    if asked.is_empty() {
        return Err(failure::violation("daily_metrics", "At least one daily metric is required."));
    }
    let mut series = Vec::new();
    for metric in asked {
        let name = METRICS.iter().find(|(theirs, _)| *theirs == metric).map(|(_, ours)| *ours);
        let name = name.ok_or_else(|| failure::no_value("daily_metrics", METRIC_TYPE, &metric))?;
        if name.is_empty() {
            series.push(json!({"dailyMetric": metric, "timeSeries": {}}));
            continue;
        }
        let mut values = Vec::new();
        for day in from.iter_days().take_while(|day| *day <= to) {
            let text = day.to_string();
            let mut cell = json!({"value": null});
            metrics::fill_metrics(
                &account,
                MetricSubject::Day(&text),
                &mut cell,
                &[("/value", name)],
            )?;
            let date = json!({"year": day.year(), "month": day.month(), "day": day.day()});
            match cell["value"].as_i64() {
                Some(0) | None => values.push(json!({ "date": date })),
                Some(value) => values.push(json!({"date": date, "value": value.to_string()})),
            }
        }
        series.push(json!({"dailyMetric": metric, "timeSeries": {"datedValues": values}}));
    }
    let groups: [Value; 1] = [json!({ "dailyMetricTimeSeries": series })];
    Ok(Reply::ok(&json!({ "multiDailyMetricTimeSeries": groups })))
}

fn date(cx: &Cx, name: &str) -> Result<NaiveDate, Reply> {
    let part = |part: &str| {
        let text = cx.call.query_value(&format!("dailyRange.{name}.{part}"))?;
        text.parse::<u32>().ok()
    };
    let found = || {
        let year = i32::try_from(part("year")?).ok()?;
        NaiveDate::from_ymd_opt(year, part("month")?, part("day")?)
    };
    found().ok_or_else(|| failure::violation(&format!("daily_range.{name}"), "Invalid date."))
}
