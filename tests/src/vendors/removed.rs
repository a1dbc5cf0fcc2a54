//! What Meta took out of every version of its Graph API on 2026-10-27, or closed to new apps on 2026-11-04 (Meta's blog on v26.0,
//! 2026-07-29, and on v27.0, 2026-11-04).

use std::collections::BTreeSet;

use url::form_urlencoded;

use crate::Exchange;

/// Parameters that are gone, and what they were for.
const PARAMETERS: [(&str, &str); 6] = [
    ("ids", "several ids in one request"),
    ("date_format", "a format of dates"),
    ("method", "another method than that of the request"),
    ("callback", "JSONP"),
    ("is_async", "a batch that is answered later"),
    ("asyncbatch", "a batch that is answered later"),
];

/// Returns what requests to the Graph API use although Meta removed it.
#[must_use]
pub fn removed(exchanges: &[Exchange]) -> BTreeSet<String> {
    let graph =
        exchanges.iter().filter(|one| ["facebook", "instagram"].contains(&one.network.as_str()));
    graph
        .flat_map(|exchange| of(exchange).map(move |what| format!("{}: {what}", exchange.network)))
        .collect()
}

fn of(exchange: &Exchange) -> impl Iterator<Item = String> + use<> {
    let is_form = exchange.header("content-type").is_some_and(|kind| kind.contains("urlencoded"));
    let body = if is_form { exchange.body.as_slice() } else { &[] };
    let pairs =
        form_urlencoded::parse(exchange.query.as_bytes()).chain(form_urlencoded::parse(body));
    let mut found = Vec::new();
    for (name, value) in pairs {
        let gone = PARAMETERS.iter().find(|(gone, _)| *gone == name);
        found.extend(gone.map(|(gone, what)| format!("{gone} ({what}) in /{}", exchange.path)));
        if name == "fields" && value.contains(".as(") {
            found.push(format!("another name for a field in {value}"));
        }
    }
    if exchange.path.contains("async_batch_requests") {
        found.push("a batch that is answered later".into());
    }
    found.into_iter()
}
