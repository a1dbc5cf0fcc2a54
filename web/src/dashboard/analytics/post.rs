//! `/dashboard/analytics/posts/{id}`: the metrics of a post by its age, and insights about it.

use fanfare_core::{Code, Error, PostId, Result, clock::Time};
use fanfare_insight::analytics::{self, PostReading, insights::Insights};
use maud::{Markup, html};
use serde_json::json;

use super::{chart, suggestion::insight};
use crate::{
    admin::parts::{number, table},
    dashboard::{operation, page_member::PageMember, parts},
    oauth_connect::{PageResponse, Visit},
};

const TITLE: &str = "Post";

/// The ages at which the metrics of a post are read, the youngest first.
const AGES: [&str; 5] = ["1h", "6h", "24h", "72h", "7d"];

/// Shows the metrics of a post.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let absent = || Error::new(Code::PostNotFound, "There is no such post.");
    let id: PostId = visit.path("id").parse().map(PostId).map_err(|_| absent())?;
    let seat = PageMember::of_post(&visit, id).await?;
    let readings = analytics::readings(&seat.act, id).await?;
    let asked = json!({"post_id": id, "workspace_id": seat.act.membership.workspace_id});
    let insights = match operation::list::<Insights>(&visit, "list_insights", asked).await {
        Ok(insights) => Ok(insights.insights),
        Err(error) if error.code() == Code::FeatureNotAvailable => Err(error),
        Err(error) => return Err(error),
    };
    let main = html! {
        p { a href="/dashboard/analytics" { "← All numbers" } }
        h1 { "Numbers of a post" }
        p { a.button href={ "/dashboard/posts/" (id) } { "Show the post" } }
        (by_age(&visit, &readings))
        h2 { "Insights" }
        @match &insights {
            Ok(insights) if insights.is_empty() => {
                p.empty { "There is no insight yet. They come 1 hour to 7 days after a post, once the account has enough posts to compare with." }
            }
            Ok(insights) => { @for one in insights { (insight(one, false)) } }
            Err(error) => { (parts::not_included(error)) }
        }
    };
    Ok(PageResponse::Wide(TITLE, main))
}

fn by_age(visit: &Visit, readings: &[PostReading]) -> Markup {
    if readings.is_empty() {
        return html! { p.empty { "The numbers of this post were not read yet." } };
    }
    let mut names: Vec<&str> =
        readings.iter().flat_map(|one| one.numbers.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    let at = |age: &str, name: &str| {
        let reading = readings.iter().find(|one| one.checkpoint == age)?;
        reading.numbers.get(name).copied()
    };
    let rows: Vec<Vec<Markup>> = AGES
        .iter()
        .map(|age| {
            let reading = readings.iter().find(|one| one.checkpoint == *age);
            let mut cells = vec![html! { (age) }];
            cells.extend(names.iter().map(|name| html! {
                @match at(age, name) { Some(value) => { (number(value)) } None => { span.soft { "not known" } } }
            }));
            cells.push(html! {
                @match reading { Some(one) => { (parts::minute(visit, Time(one.read_at))) } None => { span.soft { "not read" } } }
            });
            cells
        })
        .collect();
    let labels: Vec<String> = names.iter().map(|name| label(name)).collect();
    let heads: Vec<&str> =
        ["Age"].into_iter().chain(labels.iter().map(String::as_str)).chain(["Read"]).collect();
    html! {
        h2 { "By age" }
        div.charts {
            @for name in &names {
                @let points: Vec<_> = AGES.iter().map(|age| at(age, name)).collect();
                (chart::line(&label(name), &points, ("1 hour", "7 days")))
            }
        }
        details.numbers {
            summary { "The same numbers as a table" }
            (table("Numbers by the age of the post", &heads, &rows))
        }
    }
}

/// Returns the label of a metric: "Profile views" for `profile_views`.
fn label(name: &str) -> String {
    let mut words = name.replace('_', " ");
    if let Some(first) = words.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    words
}
