//! Lists in pages, latest first. A cursor is the last id of a page.

use serde_json::{Value, json};

use super::Graph;
use crate::network::Cx;
use crate::reply::{HandlerResult, Reply};

/// The default and the largest number of entries of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub usual: usize,
    pub most: usize,
}

/// The page size of most lists.
pub(crate) const USUAL: Size = Size { usual: 25, most: 100 };

/// Returns the requested page. The last one has cursors too, but no `next`.
pub(crate) fn page<'a, N: Graph, T: 'a>(
    cx: &Cx<N>,
    size: Size,
    latest_first: impl Iterator<Item = &'a T>,
    id: impl Fn(&T) -> u64,
    show: impl Fn(&T) -> Result<Value, Reply>,
) -> HandlerResult {
    let query = |name: &str| cx.call.query_value(name);
    let limit = query("limit").and_then(|limit| limit.parse().ok()).unwrap_or(size.usual);
    let limit = limit.clamp(1, size.most);
    let after: u64 = query("after").and_then(|cursor| cursor.parse().ok()).unwrap_or(u64::MAX);
    let mut rest = latest_first.filter(|one| id(one) < after);
    let shown: Vec<&T> = rest.by_ref().take(limit).collect();
    let more = rest.next().is_some();
    let data: Result<Vec<_>, Reply> = shown.iter().map(|one| show(one)).collect();
    let mut reply = json!({"data": data?});
    if let (Some(first), Some(last)) = (shown.first(), shown.last()) {
        let (before, after) = (id(first).to_string(), id(last).to_string());
        reply["paging"] = json!({"cursors": {"before": before, "after": after}});
        if more {
            let next = format!("{}/{}?limit={limit}&after={after}", cx.sim.base(), cx.call.path);
            reply["paging"]["next"] = json!(next);
        }
    }
    Ok(Reply::ok(&reply))
}
