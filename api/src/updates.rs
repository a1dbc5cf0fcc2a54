//! Product updates: the operation, the pages and the Atom feed.

use chrono::{NaiveDate, NaiveTime};
use fanfare_core::{Listed, Reply, Result};
use fanfare_ops::updates::{self, Update, UpdateList};
use maud::{Markup, PreEscaped, html};
use salvo::Router;

use crate::{Call, docs, router_ext::RouterExt as _, static_page::StaticPage};

/// Lists the updates.
pub async fn list(mut call: Call) -> Result<Reply<Listed<UpdateList>>> {
    let query = call.query()?;
    updates::list(&call.act, &query)
}

/// Returns the router of the pages. Each is rendered once, since the updates are part of the binary.
pub fn router(base_url: &str) -> Router {
    let page = |path: &str, page: StaticPage| Router::with_path(path).get_and_head(page);
    let overview = page("updates", StaticPage::html("/updates", overview));
    let feed = page(
        "updates.xml",
        StaticPage::feed("/updates.xml", {
            let base_url = base_url.to_owned();
            move || feed(&base_url)
        }),
    );
    updates::all().iter().fold(Router::new().push(overview).push(feed), |router, update| {
        let html = || docs::page(&update.title, &article(update));
        router.push(page(
            &format!("updates/{}", update.slug),
            StaticPage::html("/updates/{slug}", html),
        ))
    })
}

fn overview() -> String {
    let main = html! {
        p { "What is new in Fanfare. Also as a " a href="/updates.xml" { "feed" } "." }
        @for update in updates::all() {
            section {
                h2 { a href={ "/updates/" (update.slug) } { (update.title) } }
                p { (update.summary) }
                (facts(update))
            }
        }
    };
    docs::page("Updates", &main)
}

fn article(update: &Update) -> Markup {
    html! {
        (facts(update))
        (docs::rendered(&update.content))
        p { a href="/updates" { "All updates" } }
    }
}

fn facts(update: &Update) -> Markup {
    html! {
        p.soft {
            time datetime=(update.date) { (update.date) } ", version " (update.version)
            @for area in &update.areas { " · " (area) }
        }
    }
}

/// Returns the updates as an Atom feed.
fn feed(base_url: &str) -> String {
    let newest = updates::all().first().map(|update| midnight(&update.date)).unwrap_or_default();
    let entries = updates::all().iter().map(|update| {
        let url = format!("{base_url}/updates/{}", update.slug);
        let at = midnight(&update.date);
        html! {
            entry {
                id { (url) }
                title { (update.title) }
                updated { (at) }
                (PreEscaped(format!("<link href=\"{}\"/>", html! { (url) }.into_string())))
                summary { (update.summary) }
            }
        }
        .into_string()
    });
    let head = html! {
        id { (base_url) "/updates" }
        title { "Fanfare: what is new" }
        updated { (newest) }
        author { name { "Fanfare" } }
    };
    let (head, entries) = (head.into_string(), entries.collect::<String>());
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">{head}{entries}</feed>\n"
    )
}

/// Returns the start of a day in RFC 3339 format.
fn midnight(date: &str) -> String {
    let day = date.parse::<NaiveDate>().unwrap_or_default();
    day.and_time(NaiveTime::MIN).and_utc().to_rfc3339()
}
