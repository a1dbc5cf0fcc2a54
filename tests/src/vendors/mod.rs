//! Judges what connectors and simulated networks say by what vendors describe.

mod accepted;
mod misspelt;
mod removed;

use std::collections::{BTreeMap, BTreeSet};

use fanfare_sandbox::described::{Description, Request};

use crate::{Exchange, networks};
pub use accepted::{Accepted, Verdict};
pub use misspelt::{Noticed, misspell};
pub use removed::removed;

/// Something that is not as described.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The network.
    pub network: String,
    /// What describes it: `facts`, or `package`.
    pub by: &'static str,
    /// The name of the operation, or method and path of a request that is none.
    pub operation: String,
    /// `request` or `answer`.
    pub side: &'static str,
    /// What was found.
    pub what: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { network, by, operation, side, what } = self;
        let what: String = what.chars().take(300).collect();
        write!(f, "{network} ({by}), {operation}, {side}: {what}")
    }
}

/// A network, and what describes it.
pub struct Judge {
    /// The network.
    pub network: String,
    /// `facts`, or `package`.
    pub by: &'static str,
    /// The description.
    pub description: Description,
}

impl Judge {
    /// Returns the judges that are kept as data: one for each network.
    ///
    /// # Panics
    /// A network has no facts.
    #[must_use]
    pub fn kept() -> Vec<Self> {
        let all = networks::all().into_iter();
        all.map(|network| {
            let description = Description::of(network).expect("facts of every network");
            Self { network: network.to_owned(), by: "facts", description }
        })
        .collect()
    }
}

/// Returns everything that is not as described.
#[must_use]
pub fn judged(judges: &[Judge], exchanges: &[Exchange]) -> BTreeSet<Finding> {
    let mut found = BTreeSet::new();
    for judge in judges {
        let asked = asked_permissions(exchanges, &judge.network);
        let own = exchanges.iter().filter(|one| one.network == judge.network && is_said(one));
        for exchange in own {
            let Some(request) = request_of(exchange) else { continue };
            let description = &judge.description;
            let operation = description.operation(&request);
            let operation = operation.map_or_else(|| shape(exchange), str::to_owned);
            let finding = |side: &'static str, what: String| Finding {
                network: judge.network.clone(),
                by: judge.by,
                operation: operation.clone(),
                side,
                what,
            };
            found.extend(
                description.request(&request).into_iter().map(|what| finding("request", what)),
            );
            let answer = description.answer(&request, exchange.status, &exchange.answer);
            found.extend(answer.into_iter().map(|what| finding("answer", what)));
            let lacking = lacking(description.permissions(&request), &asked);
            found.extend(lacking.map(|what| finding("request", what)));
        }
    }
    found
}

/// Returns a request in the form that a description reads.
#[must_use]
pub fn request_of(exchange: &Exchange) -> Option<Request> {
    let Exchange { method, path, query, headers, body, .. } = exchange;
    Request::new(method, path, query, headers, body.clone())
}

/// Returns false for what people's browsers ask of a network's pages.
fn is_said(exchange: &Exchange) -> bool {
    let chooses = exchange.query.split('&').any(|pair| pair.starts_with("account="));
    let is_choice = exchange.method == "GET" && chooses && exchange.status != 200;
    !is_choice && !exchange.path.starts_with("ui")
}

/// Returns the permissions that users are asked for.
fn asked_permissions(exchanges: &[Exchange], network: &str) -> BTreeSet<String> {
    let mut asked = BTreeSet::new();
    for exchange in exchanges.iter().filter(|one| one.network == network) {
        if exchange.query.contains("client_id=") || exchange.query.contains("client_key=") {
            for (name, value) in url::form_urlencoded::parse(exchange.query.as_bytes()) {
                if ["scope", "user_scope"].contains(&name.as_ref()) {
                    asked.extend(value.split([',', ' ']).map(str::to_owned));
                }
            }
        }
    }
    asked
}

/// Returns what an operation needs, if users are asked for permissions and none of its lists is among them.
fn lacking(needed: &[Vec<String>], asked: &BTreeSet<String>) -> Option<String> {
    let is_given = |list: &Vec<String>| list.iter().all(|name| asked.contains(name));
    if asked.is_empty() || needed.is_empty() || needed.iter().any(is_given) {
        return None;
    }
    let lists: Vec<_> = needed.iter().map(|list| list.join(" and ")).collect();
    Some(format!("permissions: nobody is asked for {}", lists.join(", or ")))
}

/// Returns method and path of a request without what differs from run to run.
fn shape(exchange: &Exchange) -> String {
    let is_word = |part: &&str| {
        let digits = part.chars().filter(char::is_ascii_digit).count();
        part.len() < 30 && (digits < 3 || part.starts_with('v'))
    };
    let parts = exchange.path.split('/').map(|part| if is_word(&part) { part } else { "*" });
    format!("{} /{}", exchange.method, parts.collect::<Vec<_>>().join("/"))
}

/// Returns how many requests of each operation were made, by network and operation.
#[must_use]
pub fn operations(judges: &[Judge], exchanges: &[Exchange]) -> BTreeMap<(String, String), usize> {
    let mut found = BTreeMap::new();
    for judge in judges {
        for exchange in exchanges.iter().filter(|one| one.network == judge.network && is_said(one))
        {
            let request = request_of(exchange);
            if let Some(name) =
                request.and_then(|one| judge.description.operation(&one).map(str::to_owned))
            {
                *found.entry((judge.network.clone(), name)).or_default() += 1;
            }
        }
    }
    found
}
