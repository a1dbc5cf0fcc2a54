//! Categories and tags.

use serde_json::{Value, json};

use super::state::{Change, State, Taxonomy, Term};
use super::{Cx, rest, slug};
use crate::page::escape;
use crate::reply::{HandlerResult, Reply};

fn taxonomy(cx: &Cx) -> Taxonomy {
    let tags = rest::path(&cx.call).is_some_and(|path| path.starts_with("tags"));
    if tags { Taxonomy::PostTag } else { Taxonomy::Category }
}

fn view(state: &State, term: &Term, base: &str) -> Value {
    let (name, folder) = match term.taxonomy {
        Taxonomy::Category => ("category", "category"),
        Taxonomy::PostTag => ("post_tag", "tag"),
    };
    let uses = |list: &[u64]| list.contains(&term.id);
    let count = state
        .articles
        .values()
        .filter(|a| a.status == "publish" && (uses(&a.categories) || uses(&a.tags)))
        .count();
    let mut shown = json!({
        "id": term.id,
        "count": count,
        "description": term.description,
        "link": format!("{base}/{folder}/{}/", term.slug),
        "name": escape(&term.name),
        "slug": term.slug,
        "taxonomy": name,
        "meta": [],
    });
    if term.taxonomy == Taxonomy::Category {
        shown["parent"] = json!(term.parent);
    }
    shown
}

/// `GET /categories` and `GET /tags`, by name.
pub(super) fn list(cx: &Cx) -> HandlerResult {
    rest::edits(cx)?;
    let page = rest::Page::read(&cx.call)?;
    let (taxonomy, base) = (taxonomy(cx), cx.sim.base());
    let search = cx.call.query_value("search").unwrap_or_default().to_lowercase();
    let slugs: Option<Vec<String>> =
        cx.call.query_value("slug").map(|list| list.split(',').map(str::to_owned).collect());
    let fits = |term: &&Term| {
        let named = slugs.as_ref().is_none_or(|slugs| slugs.contains(&term.slug));
        term.taxonomy == taxonomy
            && named
            && (term.name.to_lowercase().contains(&search) || term.slug.contains(&search))
    };
    let (all, items) = cx.sim.read_shared(|state| {
        let mut found: Vec<_> = state.terms.values().filter(fits).collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        let items = found
            .iter()
            .skip(page.skip)
            .take(page.take)
            .map(|term| view(state, term, &base))
            .collect();
        (found.len(), items)
    });
    page.reply(&cx.call, all, items)
}

/// `GET /categories/{id}` and `GET /tags/{id}`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let (taxonomy, base) = (taxonomy(cx), cx.sim.base());
    let found = rest::id(cx).and_then(|id| {
        cx.sim.read_shared(|state| {
            state
                .terms
                .get(&id)
                .filter(|term| term.taxonomy == taxonomy)
                .map(|term| view(state, term, &base))
        })
    });
    Ok(Reply::ok(
        &found.ok_or_else(|| rest::failure(404, "rest_term_invalid", "Term does not exist."))?,
    ))
}

/// `POST /categories` and `POST /tags`
pub(super) fn create(cx: &Cx) -> HandlerResult {
    let message = "Sorry, you are not allowed to create terms in this taxonomy.";
    let account = rest::editor(cx, "rest_cannot_create", message)?;
    let params = rest::params(cx)?;
    let missing = || {
        let data = json!({"status": 400, "params": ["name"]});
        Reply::json(
            400,
            &json!({"code": "rest_missing_callback_param", "message": "Missing parameter(s): name", "data": data}),
        )
    };
    let name = params.text("name").map(|name| name.trim().to_owned()).ok_or_else(missing)?;
    if name.is_empty() {
        return Err(rest::failure(400, "empty_term_name", "A name is required for this term."));
    }
    let (taxonomy, base) = (taxonomy(cx), cx.sim.base());
    let parent = params.integer("parent").and_then(|id| u64::try_from(id).ok()).unwrap_or(0);
    let shown = cx.sim.change(&account, |state| {
        let same = |term: &&Term| {
            term.taxonomy == taxonomy
                && term.parent == parent
                && term.name.eq_ignore_ascii_case(&name)
        };
        if let Some(term) = state.terms.values().find(same) {
            let message = "A term with the name provided already exists with this parent.";
            let data = json!({"status": 400, "term_id": term.id});
            return Err(Reply::json(
                400,
                &json!({"code": "term_exists", "message": message, "data": data}),
            ));
        }
        if parent != 0 && !state.terms.get(&parent).is_some_and(|term| term.taxonomy == taxonomy) {
            return Err(rest::failure(400, "rest_term_invalid", "Parent term does not exist."));
        }
        let wanted = slug::sanitized(&params.filled("slug").unwrap_or_else(|| name.clone()));
        let taken = |slug: &str| {
            state.terms.values().any(|term| term.taxonomy == taxonomy && term.slug == slug)
        };
        let free = if taken(&wanted) {
            (2_u64..).map(|n| format!("{wanted}-{n}")).find(|slug| !taken(slug))
        } else {
            None
        };
        let id = state.terms.keys().next_back().map_or(1, |last| last + 1);
        let description = params.text("description").unwrap_or_default();
        let term = Term { id, taxonomy, name, slug: free.unwrap_or(wanted), description, parent };
        let shown = view(state, &term, &base);
        Ok((Change::Term(term), shown))
    })?;
    Ok(Reply::json(201, &shown))
}
