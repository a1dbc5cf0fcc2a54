//! Misspells every name that connectors send, once, and looks who notices.

mod names;

use std::collections::{BTreeMap, BTreeSet};

use fanfare_sandbox::described::{Description, Request};
use reqwest::Method;

use self::names::{Misspelt, Words};
use super::{is_said, request_of};
use crate::{Exchange, networks, tour::Tour};

/// Who noticed misspelt names. Each name stands for the network, the operation and its place.
#[derive(Debug, Default)]
pub struct Noticed {
    /// Refused by the simulator's gate, which knows the facts.
    pub refused: BTreeSet<Name>,
    /// Refused by the simulator's own code, or answered otherwise than described.
    pub rejected: BTreeSet<Name>,
    /// The network takes it: only the stricter reading of the facts finds it.
    pub passed: BTreeSet<Name>,
    /// Nobody noticed.
    pub missed: BTreeSet<Name>,
}

/// A name that a connector sends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The network.
    pub network: String,
    /// The operation.
    pub operation: String,
    /// The place of the name, and the name.
    pub place: String,
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}: {}", self.network, self.operation, self.place)
    }
}

impl Noticed {
    /// Returns the number of names.
    #[must_use]
    pub fn total(&self) -> usize {
        self.refused.len() + self.rejected.len() + self.passed.len() + self.missed.len()
    }

    const fn list(&mut self, by: By) -> &mut BTreeSet<Name> {
        match by {
            By::Gate => &mut self.refused,
            By::Handler => &mut self.rejected,
            By::Check => &mut self.passed,
            By::Nobody => &mut self.missed,
        }
    }

    /// Returns the names that a network itself would take, by network.
    #[must_use]
    pub fn passed_by_network(&self) -> BTreeMap<&str, Vec<&Name>> {
        let mut found: BTreeMap<&str, Vec<&Name>> = BTreeMap::new();
        self.passed.iter().for_each(|name| found.entry(&name.network).or_default().push(name));
        found
    }
}

/// Misspells every name in the requests of a tour, once for each operation and place.
///
/// # Panics
/// A network has no facts.
pub async fn misspell(tour: &Tour) -> Noticed {
    let mut noticed = Noticed::default();
    for network in networks::all() {
        let description = Description::of(network).expect("facts of every network");
        let words = Words::of(network);
        // The newest request with a name, since its token may still be good. Requests that differ in numbers alone are one.
        let mut found: BTreeMap<Name, (&Exchange, Misspelt)> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let own = tour.exchanges.iter().filter(|one| one.network == network && is_said(one));
        for exchange in own.filter(|one| (200..400).contains(&one.status)).rev() {
            let Some(request) = request_of(exchange) else { continue };
            let Some(operation) = description.operation(&request) else { continue };
            if !seen.insert((operation.to_owned(), without_numbers(exchange))) {
                continue;
            }
            for misspelt in names::of(exchange, &words) {
                let (network, operation) = (network.to_owned(), operation.to_owned());
                let name = Name { network, operation, place: misspelt.place.clone() };
                found.entry(name).or_insert((exchange, misspelt));
            }
        }
        for (name, (exchange, misspelt)) in found {
            let by = judge(tour, &description, exchange, &misspelt).await;
            noticed.list(by).insert(name);
        }
    }
    noticed
}

/// The part that noticed a name.
enum By {
    Gate,
    Handler,
    Check,
    Nobody,
}

async fn judge(
    tour: &Tour,
    description: &Description,
    exchange: &Exchange,
    misspelt: &Misspelt,
) -> By {
    let (Some(good), Some(bad)) = (request_of(exchange), misspelt.request(exchange)) else {
        return By::Nobody;
    };
    if description.refusal(&bad).is_some() {
        return By::Gate;
    }
    let after = answer(tour, exchange, Some(misspelt)).await;
    if after.0 >= 400 && after != answer(tour, exchange, None).await {
        return By::Handler;
    }
    if is_found(description, &good, &bad) { By::Check } else { By::Nobody }
}

/// Returns query and body without the digits in them.
fn without_numbers(exchange: &Exchange) -> Vec<u8> {
    let bytes = exchange.query.bytes().chain([b' ']).chain(exchange.body.iter().copied());
    bytes.filter(|byte| !byte.is_ascii_digit()).collect()
}

/// Returns true if a request says something that is not described, and the good one does not.
fn is_found(description: &Description, good: &Request, bad: &Request) -> bool {
    let before = description.request(good);
    description.request(bad).difference(&before).next().is_some()
}

/// Sends a request straight to the simulator once more; returns status and body.
async fn answer(tour: &Tour, exchange: &Exchange, misspelt: Option<&Misspelt>) -> (u16, String) {
    let (query, body) = match misspelt {
        Some(misspelt) => misspelt.parts(exchange),
        None => (exchange.query.clone(), exchange.body.clone()),
    };
    let base = tour.app.simulator.url.as_str().trim_end_matches('/');
    let mut url = format!("{base}{}/{}", exchange.root, exchange.path);
    if !query.is_empty() {
        url = format!("{url}?{query}");
    }
    let method = Method::from_bytes(exchange.method.as_bytes()).expect("a method");
    let mut request = crate::local_client().request(method, url).body(body);
    let is_own =
        |name: &str| !["host", "content-length", "connection", "transfer-encoding"].contains(&name);
    for (name, value) in exchange.headers.iter().filter(|(name, _)| is_own(name)) {
        request = request.header(name, value);
    }
    let Ok(answer) = request.send().await else { return (0, String::new()) };
    (answer.status().as_u16(), answer.text().await.unwrap_or_default())
}
