//! `/admin/work`: search for work rows.

use fanfare_core::Result;
use fanfare_entities::Millis;
use fanfare_ops::ops::{
    networks,
    search::{self, SearchPage, SearchQuery, SearchRow, WINDOW, WorkKind},
};
use maud::{Markup, html};
use url::form_urlencoded::Serializer;

use super::{
    parts::{action_link, badge, empty, number, relative_time, table, time, truncated},
    visit::{PageResponse, Visit},
};
use crate::browser::{refusal::refusal, typed};

/// Reads the search from the address.
pub fn search_query(visit: &Visit) -> Result<SearchQuery> {
    Ok(SearchQuery {
        kind: visit.query("kind").map_or(Ok(WorkKind::default()), WorkKind::named)?,
        id: visit.parsed("id")?,
        status: visit.query("status").map(str::to_owned),
        platform: visit.query("platform").map(str::to_owned),
        class: visit.query("class").map(str::to_owned),
        account: visit.parsed("account")?,
        workspace: visit.parsed("workspace")?,
        error: visit.query("error").map(str::to_owned),
        cursor: visit.parsed("cursor")?,
    })
}

/// Returns the address of a search.
fn address(query: &SearchQuery, cursor: Option<i64>) -> String {
    let mut pairs = Serializer::new(String::new());
    pairs.append_pair("kind", query.kind.as_str());
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            pairs.append_pair(name, &value);
        }
    };
    add("id", query.id.map(|id| id.to_string()));
    add("status", query.status.clone());
    add("platform", query.platform.clone());
    add("class", query.class.clone());
    add("account", query.account.map(|id| id.to_string()));
    add("workspace", query.workspace.map(|id| id.to_string()));
    add("error", query.error.clone());
    add("cursor", cursor.map(|id| id.to_string()));
    pairs.finish()
}

/// Shows the page.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let (query, found) = match search_query(&visit) {
        Ok(query) => {
            let found = search::find(&visit.cx, &query).await;
            (query, found)
        }
        Err(error) => (SearchQuery::default(), Err(error)),
    };
    let page = |results: Markup| html! { h1 { "Work" } (filter(&query)) (results) };
    match found {
        Ok(found) => {
            Ok(PageResponse::Page("Work", page(results(&query, &found, visit.cx.clock.now()))))
        }
        Err(error) if error.status() < 500 => {
            let main = page(refusal(&error));
            let main = typed::refused(main, "/admin/work", &visit.query, &error);
            Ok(PageResponse::Invalid("Work", main))
        }
        Err(error) => Err(error),
    }
}

fn filter(query: &SearchQuery) -> Markup {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let id = |value: Option<i64>| value.map_or_else(String::new, |id| id.to_string());
    html! {
        form.filter method="get" action="/admin/work" {
            div {
                label for="kind" { "Kind" }
                select #kind name="kind" {
                    @for kind in WorkKind::ALL {
                        option value=(kind.as_str()) selected[kind == query.kind] { (kind.as_str()) }
                    }
                }
            }
            (field("id", "Id", &id(query.id)))
            div {
                label for="status" { "Status" }
                select #status name="status" {
                    option value="" { "any" }
                    // Statuses of every kind: the kind may just have been changed in the form.
                    @for kind in WorkKind::ALL {
                        optgroup label=(kind.as_str()) {
                            @for status in kind.statuses() {
                                option value=(status) selected[kind == query.kind && query.status.as_deref() == Some(*status)] { (status) }
                            }
                        }
                    }
                }
            }
            div {
                label for="platform" { "Platform" }
                select #platform name="platform" {
                    option value="" { "any" }
                    @for platform in networks::platform_ids() {
                        option value=(platform) selected[query.platform.as_deref() == Some(platform)] { (platform) }
                    }
                }
            }
            div {
                label for="class" { "After a lost answer" }
                select #class name="class" {
                    option value="" { "any" }
                    @for class in search::CLASSES {
                        option value=(class) selected[query.class.as_deref() == Some(class)] { (class) }
                    }
                }
            }
            (field("account", "Account", &id(query.account)))
            (field("workspace", "Workspace", &query.workspace.map_or_else(String::new, |id| id.to_string())))
            (field("error", "Error code", &text(&query.error)))
            div { button type="submit" { "Search" } }
        }
    }
}

fn field(name: &str, label: &str, value: &str) -> Markup {
    html! {
        div {
            label for=(name) { (label) }
            input id=(name) name=(name) value=(value) autocomplete="off";
        }
    }
}

fn results(query: &SearchQuery, page: &SearchPage, now: Millis) -> Markup {
    let failed = page.rows.iter().any(|row| row.status == "failed");
    html! {
        @if page.rows.is_empty() {
            @if page.next.is_some() {
                (empty(&format!("No match in the {} rows that were searched. Continue with older rows.", number(WINDOW))))
            } @else { (empty("No results.")) }
        } @else {
            (rows("Results, newest first", query.kind, &page.rows, now))
        }
        p.actions {
            @if query.kind == WorkKind::Post && failed {
                @let failed = SearchQuery { status: Some("failed".to_owned()), ..query.clone() };
                (action_link("retry", &address(&failed, None), "Send the failed ones again…"))
            }
            @if let Some(next) = page.next {
                a.button href={ "/admin/work?" (address(query, Some(next))) } rel="next" { "Older" }
            }
        }
    }
}

/// Renders a table of rows.
pub fn rows(caption: &str, kind: WorkKind, found: &[SearchRow], now: Millis) -> Markup {
    let heads = match kind {
        WorkKind::Post => {
            &["Post", "Platform", "Status", "Scheduled (UTC)", "Due", "Tries", "Error", "Changed"][..]
        }
        _ => &["Row", "Status", "Due", "Tries", "Error", "Changed"][..],
    };
    let cells: Vec<_> = found.iter().map(|row| cells(kind, row, now)).collect();
    table(caption, heads, &cells)
}

fn cells(kind: WorkKind, row: &SearchRow, now: Millis) -> Vec<Markup> {
    let link = html! { a href={ "/admin/work/" (kind.as_str()) "/" (row.id) } { (row.id) } };
    let due = html! { @if let Some(due) = row.due_at { (relative_time(due, now)) } @else { "–" } };
    let error = html! {
        @match &row.error {
            Some(error) => code title=(error) { (truncated(error, 60)) },
            None => "–",
        }
        @if row.duplicate_risk { " " (badge("may_be_public")) }
    };
    let lapsed = row.expired_leases(now);
    let tries = html! { (row.attempts) @if lapsed > 0 { span.soft { ", " (lapsed) " lapsed" } } };
    let (status, changed) = (badge(&row.status), relative_time(row.updated_at, now));
    if kind != WorkKind::Post {
        return vec![link, status, due, tries, error, changed];
    }
    let platform = html! {
        (row.platform.as_deref().unwrap_or_default())
        @if let Some(account) = row.account_id { span.soft { " · " (account) } }
    };
    let at = html! { @if let Some(at) = row.scheduled_at { (time(at)) } @else { "–" } };
    vec![link, platform, status, at, due, tries, error, changed]
}
