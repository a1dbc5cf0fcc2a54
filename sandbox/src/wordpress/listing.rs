//! `GET /posts`: the site's articles, filtered and in pages.

use serde_json::Value;

use super::state::Article;
use super::{Cx, representations, rest};
use crate::reply::{HandlerResult, Reply};

/// The filters of a list.
struct Filter {
    slugs: Vec<String>,
    statuses: Vec<String>,
    search: Option<String>,
    author: Vec<u64>,
    include: Vec<u64>,
}

/// `GET /posts`
pub(super) fn posts(cx: &Cx) -> HandlerResult {
    let raw = rest::edits(cx)?;
    let filter = filter(cx)?;
    let page = rest::Page::read(&cx.call)?;
    let base = cx.sim.base();
    let oldest_first = match cx.call.query_value("order").as_deref() {
        None | Some("desc") => false,
        Some("asc") => true,
        Some(_) => return Err(rest::invalid("order", "order is not one of asc and desc.")),
    };
    let by_title = cx.call.query_value("orderby").as_deref() == Some("title");
    let (all, items) = cx.sim.read_shared(|state| {
        let mut found: Vec<_> =
            state.articles.values().filter(|article| filter.fits(article)).collect();
        if by_title {
            found.sort_by(|a, b| a.title.cmp(&b.title));
        } else {
            found.sort_by_key(|article| (article.date_ms, article.id));
        }
        if !oldest_first {
            found.reverse();
        }
        let items: Vec<Value> = found
            .iter()
            .skip(page.skip)
            .take(page.take)
            .map(|article| representations::article(state, article, &base, raw))
            .collect();
        (found.len(), items)
    });
    page.reply(&cx.call, all, items)
}

/// Returns the values of a list parameter, given as `a=1,2` or `a[]=1&a[]=2`.
fn list(cx: &Cx, name: &str) -> Vec<String> {
    let pairs = cx.call.query_pairs().filter(|(key, _)| key.split('[').next() == Some(name));
    pairs
        .flat_map(|(_, value)| {
            value.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>()
        })
        .collect()
}

fn numbers(cx: &Cx, name: &str) -> Vec<u64> {
    list(cx, name).iter().filter_map(|number| number.parse().ok()).collect()
}

fn filter(cx: &Cx) -> Result<Filter, Reply> {
    let mut statuses = list(cx, "status");
    if statuses.is_empty() {
        statuses.push("publish".into());
    }
    if statuses.iter().any(|status| status != "publish") && rest::user(cx)?.is_none() {
        return Err(rest::invalid("status", "Status is forbidden."));
    }
    let known = ["publish", "future", "draft", "pending", "private", "trash", "any"];
    if let Some(unknown) = statuses.iter().find(|status| !known.contains(&status.as_str())) {
        return Err(rest::invalid("status", &format!("{unknown} is not a post status.")));
    }
    Ok(Filter {
        slugs: list(cx, "slug"),
        statuses,
        search: cx
            .call
            .query_value("search")
            .filter(|text| !text.is_empty())
            .map(|text| text.to_lowercase()),
        author: numbers(cx, "author"),
        include: numbers(cx, "include"),
    })
}

impl Filter {
    fn fits(&self, article: &Article) -> bool {
        let any = |list: &[u64], id: u64| list.is_empty() || list.contains(&id);
        let status = self.statuses.iter().any(|status| {
            *status == article.status || (status == "any" && article.status != "trash")
        });
        let text =
            || format!("{} {} {}", article.title, article.excerpt, article.content).to_lowercase();
        status
            && (self.slugs.is_empty() || self.slugs.contains(&article.slug))
            && any(&self.author, article.author)
            && any(&self.include, article.id)
            && self.search.as_ref().is_none_or(|search| text().contains(search))
    }
}
