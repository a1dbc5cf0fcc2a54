//! What the vendors say of their networks: operations, names, types, metrics and permissions, from `facts/*.json`. The
//! simulators refuse what these files do not name. `facts/README.md` says where they come from.

mod fields;
mod form;
mod judge;
mod objection;
mod operation;
mod schema;
mod strict;

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use jsonschema::Registry;
use salvo::http::Method;
use serde::Deserialize;
use serde_json::Value;

use crate::behaviour::Behaviour;
use crate::call::Call;
pub(crate) use objection::Objection;
pub(crate) use operation::Operation;
use schema::Schemas;

/// The files, each read when its network is first called.
static FILES: [(&str, &str, OnceLock<Option<Facts>>); 18] = [
    ("bluesky", include_str!("../../facts/bluesky.json"), OnceLock::new()),
    ("devto", include_str!("../../facts/devto.json"), OnceLock::new()),
    ("discord", include_str!("../../facts/discord.json"), OnceLock::new()),
    ("facebook", include_str!("../../facts/facebook.json"), OnceLock::new()),
    ("google_business", include_str!("../../facts/google_business.json"), OnceLock::new()),
    ("hashnode", include_str!("../../facts/hashnode.json"), OnceLock::new()),
    ("instagram", include_str!("../../facts/instagram.json"), OnceLock::new()),
    ("lemmy", include_str!("../../facts/lemmy.json"), OnceLock::new()),
    ("linkedin", include_str!("../../facts/linkedin.json"), OnceLock::new()),
    ("mastodon", include_str!("../../facts/mastodon.json"), OnceLock::new()),
    ("pinterest", include_str!("../../facts/pinterest.json"), OnceLock::new()),
    ("slack", include_str!("../../facts/slack.json"), OnceLock::new()),
    ("telegram", include_str!("../../facts/telegram.json"), OnceLock::new()),
    ("threads", include_str!("../../facts/threads.json"), OnceLock::new()),
    ("tiktok", include_str!("../../facts/tiktok.json"), OnceLock::new()),
    ("wordpress", include_str!("../../facts/wordpress.json"), OnceLock::new()),
    ("x", include_str!("../../facts/x.json"), OnceLock::new()),
    ("youtube", include_str!("../../facts/youtube.json"), OnceLock::new()),
];

/// The facts of one network.
pub(crate) struct Facts {
    operations: Vec<Operation>,
    nodes: HashMap<String, fields::Node>,
    metrics: Vec<Metric>,
    schemas: Schemas,
    as_real: Behaviour,
    /// The permissions that users can be asked for.
    scopes: BTreeSet<String>,
}

/// The parts of a file that are not schemas.
#[derive(Deserialize)]
struct File {
    operations: Vec<Operation>,
    nodes: HashMap<String, fields::Node>,
    metrics: Vec<Metric>,
    #[serde(default)]
    as_real: Behaviour,
}

/// A number that a network counts.
#[derive(Deserialize)]
struct Metric {
    name: String,
    /// The kind of object that has it.
    on: String,
    #[serde(default)]
    removed: Option<Value>,
}

/// Returns the facts of a network; `None` if there are none.
pub(crate) fn of(network: &str) -> Option<&'static Facts> {
    let (name, text, facts) = FILES.iter().find(|(name, ..)| *name == network)?;
    facts.get_or_init(|| Facts::read(name, text)).as_ref()
}

/// Returns the file of a network.
pub(crate) fn text(network: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, ..)| *name == network).map(|(_, text, _)| *text)
}

impl Facts {
    pub(crate) fn read(network: &str, text: &str) -> Option<Self> {
        let whole: Value = serde_json::from_str(text).ok()?;
        let File { operations, nodes, metrics, as_real } = File::deserialize(&whole).ok()?;
        let address = format!("urn:facts:{network}");
        let registry = Registry::new().add(address.clone(), whole.clone()).ok()?.prepare().ok()?;
        let named = whole["scopes"].as_object().into_iter().flatten().map(|(name, _)| name.clone());
        let needed = operations.iter().flat_map(|one| one.scopes.iter().flatten().cloned());
        let scopes = named.chain(needed).collect();
        let schemas = Schemas::new(address, whole, registry);
        Some(Self { operations, nodes, metrics, schemas, as_real, scopes })
    }

    /// Returns the operation of a request.
    pub fn operation(&self, call: &Call) -> Option<(usize, &Operation)> {
        let (method, segments) = (&call.method, call.segments());
        let fitting = self.operations.iter().enumerate();
        let fitting = fitting.filter_map(|(number, operation)| {
            Some((operation.fit(method, &segments)?, number, operation))
        });
        // Of several patterns the one with a word where the others have placeholders.
        let best = fitting.max_by(|(a, ..), (b, ..)| a.cmp(b));
        best.map(|(_, number, operation)| (number, operation))
    }

    /// Returns the name of an operation.
    pub fn name(&self, number: usize) -> &str {
        self.operations.get(number).map_or("", |operation| &operation.name)
    }

    /// Returns how the network behaves in the world.
    pub fn as_real(&self) -> &Behaviour {
        &self.as_real
    }

    /// Returns what speaks against a request: names, values, fields, metrics that its operation has not.
    pub fn objection(
        &self,
        (number, operation): (usize, &Operation),
        call: &Call,
    ) -> Option<Objection> {
        self.query(number, call)
            .or_else(|| self.body(number, operation, call))
            .or_else(|| self.field(operation, call))
            .or_else(|| self.metric(operation, call))
    }

    fn query(&self, number: usize, call: &Call) -> Option<Objection> {
        let place = format!("/operations/{number}/query");
        let schema = self.schemas.at(&place)?;
        let pairs = call.query_pairs().collect();
        let query = form::value(pairs, schema, &self.schemas);
        self.schemas.objection(&place, &query, true)
    }

    fn body(&self, number: usize, operation: &Operation, call: &Call) -> Option<Objection> {
        let place = format!("/operations/{number}/body/schema");
        let schema = self.schemas.at(&place)?;
        if !operation.has_readable_body() {
            return None;
        }
        // A body that cannot be read is refused by the handler, in the network's words.
        let body = form::body(call, schema, &self.schemas, false)?;
        self.schemas.objection(&place, &body, false)
    }

    fn field(&self, operation: &Operation, call: &Call) -> Option<Objection> {
        let named = call.query_value("fields").filter(|_| !operation.nodes.is_empty())?;
        let (field, node) = fields::unknown(&named, &operation.nodes, &self.nodes)?;
        Some(Objection::Field { field, node })
    }

    fn metric(&self, operation: &Operation, call: &Call) -> Option<Objection> {
        let named = call.query_value("metric").filter(|_| !operation.metrics.is_empty())?;
        let is_known = |name: &str| {
            let fits = |metric: &&Metric| {
                metric.name == name
                    && metric.removed.is_none()
                    && operation.metrics.contains(&metric.on)
            };
            self.metrics.iter().any(|metric| fits(&metric))
        };
        let unknown = named.split(',').map(str::trim).find(|name| !is_known(name))?;
        Some(Objection::Metric(unknown.to_owned()))
    }

    /// Returns the kind of object that a field of another kind holds.
    pub fn kind_of_field(&self, kind: &str, field: &str) -> Option<&str> {
        self.nodes.get(kind)?.kind_of(field)
    }

    /// Returns true if the arguments of a GraphQL field, `Query.post`, are described.
    pub fn has_arguments(&self, field: &str) -> bool {
        self.schemas.at(&arguments_of(field)).is_some()
    }

    /// Returns what speaks against the arguments of a GraphQL field.
    pub fn arguments(&self, field: &str, given: &Value) -> Option<Objection> {
        self.schemas.objection(&arguments_of(field), given, false)
    }

    /// Returns what an answer of the simulator has that the network's has not, or the other way around.
    pub fn stray(&self, number: usize, status: u16, body: &[u8]) -> Option<String> {
        let place = format!("/operations/{number}/answers/{status}");
        self.schemas.at(&place)?;
        let body: Value = serde_json::from_slice(body).ok()?;
        let found = self.schemas.stray(&place, &body)?;
        Some(format!("{}: {found}", self.operations.get(number)?.name))
    }
}

/// Returns true for an API version such as `v25.0`.
fn is_version(segment: &str) -> bool {
    let numbers = segment.strip_prefix('v');
    numbers.is_some_and(|numbers| numbers.split('.').all(|number| number.parse::<u8>().is_ok()))
}

/// Returns the place of the arguments of a GraphQL field.
fn arguments_of(field: &str) -> String {
    format!("/types/Arguments/properties/{field}")
}

/// Returns the method's name as the files write it.
fn is_method(method: &Method, name: &str) -> bool {
    method.as_str() == name
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use salvo::http::{HeaderMap, Method};
    use serde_json::json;

    use super::{FILES, Objection, of};
    use crate::call::Call;

    fn call(method: Method, address: &str, body: Option<&serde_json::Value>) -> Call {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "application/json".parse().unwrap());
        let body = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        Call { method, path: path.to_owned(), query: query.to_owned(), headers, body }
    }

    fn against(network: &str, call: &Call) -> Option<Objection> {
        let facts = of(network).unwrap();
        facts.objection(facts.operation(call).unwrap(), call)
    }

    #[test]
    fn every_file_can_be_read_and_every_schema_compiled() {
        for (network, ..) in &FILES {
            let facts = of(network).unwrap_or_else(|| panic!("{network} cannot be read"));
            facts
                .schemas
                .compile_all(facts.operations.len())
                .unwrap_or_else(|why| panic!("{network}: {why}"));
        }
    }

    #[test]
    fn an_unknown_name_is_found_with_its_place() {
        let post = json!({"text": "a", "poll": {"options": ["a", "b"], "duration": 5}});
        let found = against("x", &call(Method::POST, "2/tweets", Some(&post)));
        let Some(Objection::Name { path, name, .. }) = found else { panic!("{found:?}") };
        assert_eq!((path.as_str(), name.as_str()), ("poll", "duration"));
    }

    #[test]
    fn a_misspelt_parameter_and_a_misspelt_value_are_found() {
        let good =
            call(Method::GET, "2/users/7/tweets?max_results=100&tweet.fields=created_at", None);
        assert!(against("x", &good).is_none(), "{:?}", against("x", &good));
        for bad in ["max_result=100", "max_results=many", "tweet.fields=create_at"] {
            let call = call(Method::GET, &format!("2/users/7/tweets?{bad}"), None);
            assert!(against("x", &call).is_some(), "{bad}");
        }
    }

    #[test]
    fn a_word_goes_before_a_placeholder() {
        let facts = of("facebook").unwrap();
        let named = |path: &str| {
            let call = call(Method::GET, path, None);
            facts.operation(&call).map(|(_, operation)| operation.path())
        };
        assert_eq!(named("v26.0/me").as_deref(), Some("/{version}/me"));
        assert_eq!(named("v26.0/me/accounts").as_deref(), Some("/{version}/me/accounts"));
        assert_eq!(named("v26.0/12_34").as_deref(), Some("/{version}/{id}"));
    }

    #[test]
    fn fields_and_metrics_are_those_of_the_object() {
        let asked = |address: &str| against("facebook", &call(Method::GET, address, None));
        assert!(matches!(asked("v26.0/me/accounts?fields=id,nam"), Some(Objection::Field { .. })));
        assert!(asked("v26.0/me/accounts?fields=id,name,access_token,picture{url}").is_none());
        assert!(matches!(
            asked("v26.0/1/insights?metric=page_viewz_total"),
            Some(Objection::Metric(_))
        ));
    }
}
