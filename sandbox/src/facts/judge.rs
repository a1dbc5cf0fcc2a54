//! Judges requests and answers more strictly than the networks do.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Facts, Operation, form, strict};
use crate::call::Call;

impl Facts {
    /// Returns everything that speaks against a request, also what the network would pass over.
    pub fn against_request(
        &self,
        (number, operation): (usize, &Operation),
        call: &Call,
    ) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let place = format!("/operations/{number}/query");
        match self.schemas.at(&place) {
            Some(schema) => {
                let query = form::value(call.query_pairs().collect(), schema, &self.schemas);
                found.extend(self.in_part("query", &place, &query));
            }
            None => {
                let names = call.query_pairs().map(|(name, _)| name);
                found.extend(names.map(|name| format!("query: {name} is not known")));
            }
        }
        let place = format!("/operations/{number}/body/schema");
        let schema = self.schemas.at(&place).filter(|_| operation.has_readable_body());
        match schema.map(|schema| form::body(call, schema, &self.schemas, true)) {
            Some(Some(body)) => found.extend(self.in_part("body", &place, &body)),
            Some(None) if !call.body.is_empty() => {
                found.insert("body: cannot be read".into());
            }
            _ => {}
        }
        found.extend(
            self.strange_scopes(call).map(|name| format!("query: {name} is no permission")),
        );
        let named = self.field(operation, call).or_else(|| self.metric(operation, call));
        found.extend(named.map(|objection| objection.to_string()));
        found
    }

    /// Returns the permissions that a request asks a user for and that are none.
    fn strange_scopes(&self, call: &Call) -> impl Iterator<Item = String> {
        let asked = call.query_pairs().filter(|(name, _)| name == "scope" || name == "user_scope");
        let names = asked
            .flat_map(|(_, list)| list.split([',', ' ']).map(str::to_owned).collect::<Vec<_>>());
        let is_strange = |name: &String| !self.scopes.is_empty() && !self.scopes.contains(name);
        names.filter(is_strange).collect::<Vec<_>>().into_iter()
    }

    /// Returns everything in which an answer is not as described.
    pub fn against_answer(
        &self,
        (number, operation): (usize, &Operation),
        status: u16,
        body: &[u8],
    ) -> BTreeSet<String> {
        if !(200..300).contains(&status) {
            return BTreeSet::new();
        }
        let place = format!("/operations/{number}/answers/{status}");
        let Some(schema) = self.schemas.at(&place) else {
            let answers = self.schemas.at(&format!("/operations/{number}/answers"));
            let is_described =
                answers.and_then(Value::as_object).is_some_and(|all| !all.is_empty());
            return is_described
                .then(|| format!("status {status} is not described"))
                .into_iter()
                .collect();
        };
        let is_typed = ["type", "$ref"].iter().any(|key| schema.get(key).is_some());
        match serde_json::from_slice::<Value>(body) {
            Ok(answer) => {
                let found = self.in_part("answer", &place, &answer);
                found.into_iter().filter(|what| !self.is_field(operation, what)).collect()
            }
            Err(_) if is_typed && !body.is_empty() => BTreeSet::from(["answer: is no JSON".into()]),
            Err(_) => BTreeSet::new(),
        }
    }

    /// Returns true if what is not known of an answer is a field of its objects: which of them are there is for the
    /// request to say.
    fn is_field(&self, operation: &Operation, what: &str) -> bool {
        let Some(place) =
            what.strip_prefix("answer: ").and_then(|rest| rest.strip_suffix(" is not known"))
        else {
            return false;
        };
        let place = place.trim_start_matches("data[].").trim_start_matches("data.");
        operation.nodes.iter().filter_map(|kind| self.nodes.get(kind)).any(|node| node.has(place))
    }

    fn in_part(&self, part: &str, place: &str, value: &Value) -> BTreeSet<String> {
        let Some(schema) = self.schemas.at(place) else { return BTreeSet::new() };
        let mut found = self.schemas.all(place, value);
        found.extend(strict::unknown(value, schema, &self.schemas));
        found.into_iter().map(|what| format!("{part}: {what}")).collect()
    }
}
