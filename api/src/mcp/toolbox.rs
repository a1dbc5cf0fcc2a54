//! The tools: one for each route, and three that find and run any of them.

use std::{collections::HashMap, sync::Arc};

use fanfare_domain::access::Caller;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::{SIGNUP, schema::ToolInput};
use crate::{Route, endpoint::Endpoint, hints::Hints, openapi};

/// The tool that finds operations by words.
pub const FIND: &str = "find_operation";
/// The tool that runs an operation that changes nothing.
pub const READ: &str = "read_operation";
/// The tool that runs an operation that may change something.
pub const CHANGE: &str = "change_operation";

/// The most results of a search.
const MAX_RESULTS: usize = 8;

/// A tool and its route.
pub struct ToolEntry {
    /// The route.
    pub route: &'static Route,
    /// The endpoint that serves the route.
    pub endpoint: Endpoint,
    /// The input.
    pub input: ToolInput,
    tool: Tool,
}

/// All tools.
pub struct Toolbox {
    entries: Vec<ToolEntry>,
    names: HashMap<&'static str, usize>,
    runners: Vec<Tool>,
}

/// The tools that a client asks to see.
pub enum Selection {
    /// The operations that most tasks need.
    Core,
    /// All operations.
    All,
    /// All that change nothing.
    Read,
    /// The operations of these chapters.
    Tags(Vec<String>),
}

impl Selection {
    /// Reads `?tools=`.
    #[must_use]
    pub fn of(text: Option<&str>) -> Self {
        match text {
            None | Some("" | "core") => Self::Core,
            Some("all") => Self::All,
            Some("read") => Self::Read,
            Some(tags) => Self::Tags(tags.split(',').map(|tag| tag.trim().to_owned()).collect()),
        }
    }

    fn has(&self, route: &Route) -> bool {
        match self {
            Self::Core => route.is_core,
            Self::All => true,
            Self::Read => !route.method.writes(),
            Self::Tags(tags) => tags.iter().any(|tag| tag == route.tag),
        }
    }
}

impl Toolbox {
    /// Returns the tools of these routes.
    #[must_use]
    pub fn new(routes: Vec<(&'static Route, Endpoint)>) -> Self {
        let entries: Vec<_> = routes.into_iter().map(entry).collect();
        let names = entries.iter().enumerate().map(|(at, entry)| (entry.route.name, at)).collect();
        Self { entries, names, runners: runners() }
    }

    /// Returns the tool of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&ToolEntry> {
        self.entries.get(*self.names.get(name)?)
    }

    /// Lists the tools that a caller sees; a caller without a key sees those of signing up.
    #[must_use]
    pub fn list(&self, selection: &Selection, caller: Option<&Caller>) -> Vec<Tool> {
        let Some(caller) = caller else {
            let signup = self.entries.iter().filter(|entry| SIGNUP.contains(&entry.route.name));
            return signup.map(|entry| entry.tool.clone()).collect();
        };
        let listed = self.entries.iter().filter(|entry| selection.has(entry.route));
        let allowed = listed.filter(|entry| is_allowed(entry.route, caller));
        let mut tools: Vec<_> = allowed.map(|entry| entry.tool.clone()).collect();
        if matches!(selection, Selection::Core) {
            tools.extend(self.runners.iter().cloned());
        }
        tools
    }

    /// Returns the operations whose names and summaries have most of these words, best first.
    #[must_use]
    pub fn search(&self, query: &str, caller: Option<&Caller>) -> Value {
        let words: Vec<String> = words(query).collect();
        let mut found: Vec<_> = self
            .entries
            .iter()
            .filter(|entry| caller.is_none_or(|caller| is_allowed(entry.route, caller)))
            .map(|entry| (score(entry.route, &words), entry))
            .filter(|(score, _)| *score > 0)
            .collect();
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let shown = found.iter().take(MAX_RESULTS).map(|(_, entry)| search_result(entry));
        json!({ "operations": shown.collect::<Vec<_>>() })
    }
}

fn is_allowed(route: &Route, caller: &Caller) -> bool {
    let policy = &route.policy;
    match &caller.token {
        // An OAuth client can request a missing scope.
        Some(_) => policy.allows_tokens,
        None => policy.missing_scope(&caller.scopes).is_none(),
    }
}

fn entry((route, endpoint): (&'static Route, Endpoint)) -> ToolEntry {
    let input = ToolInput::of(route);
    let schema: JsonObject = input.schema.clone();
    let mut open = JsonObject::new();
    open.insert("type".to_owned(), "object".into());
    let tool = Tool::new(route.name, description(route), Arc::new(schema))
        .with_raw_output_schema(Arc::new(open))
        .with_annotations(annotations(route));
    ToolEntry { route, endpoint, input, tool }
}

fn description(route: &Route) -> String {
    format!("{}. {}", route.summary, openapi::needs(route))
}

fn annotations(route: &Route) -> ToolAnnotations {
    let hints = Hints::of(route);
    ToolAnnotations::with_title(route.name.replace('_', " "))
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(hints.idempotent)
        .open_world(hints.open_world)
}

fn runners() -> Vec<Tool> {
    let text = |doc: &str| json!({"type": "string", "maxLength": 200, "description": doc});
    let object = |properties: Value, required: Value| match json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    }) {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    };
    let run = || {
        let arguments =
            json!({"type": "object", "description": "Its arguments, flat: path, query and body."});
        let properties =
            json!({"operation": text("Name of the operation."), "arguments": arguments});
        object(properties, json!(["operation"]))
    };
    let hints = |title: &str, reads: bool| {
        ToolAnnotations::with_title(title)
            .read_only(reads)
            .destructive(!reads)
            .idempotent(reads)
            .open_world(!reads)
    };
    vec![
        Tool::new(
            FIND,
            "Find operations that have no tool of their own in this list, by words; returns names and arguments.",
            object(json!({"query": text("What is to be done, in a few words.")}), json!(["query"])),
        )
        .with_annotations(hints("find operation", true)),
        Tool::new(READ, "Run any operation that only reads, by its name.", run())
            .with_annotations(hints("read operation", true)),
        Tool::new(CHANGE, "Run any operation that may change something, by its name.", run())
            .with_annotations(hints("change operation", false)),
    ]
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let parts = text.split(|mark: char| !mark.is_alphanumeric()).filter(|word| word.len() > 1);
    parts.take(20).map(|word| word.to_lowercase().trim_end_matches('s').to_owned())
}

/// Returns the number of these words that a route has; those in its name count three times.
fn score(route: &Route, wanted: &[String]) -> usize {
    let has = |text: &str, word: &String| words(text).any(|known| known == *word);
    let one = |word: &String| {
        3 * usize::from(has(route.name, word))
            + usize::from(has(route.summary, word))
            + usize::from(has(route.tag, word))
    };
    wanted.iter().map(one).sum()
}

fn search_result(entry: &ToolEntry) -> Value {
    let route = entry.route;
    json!({
        "operation": route.name,
        "summary": route.summary,
        "run_with": if route.method.writes() { CHANGE } else { READ },
        "arguments": entry.input.schema,
    })
}
