//! The tools: one for each route, and three that find and run any of them.

use std::{
    collections::HashMap,
    ops::Deref,
    sync::{Arc, LazyLock},
};

use fanfare_core::{Domain, access::Caller, input::closest_name};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::{
    SIGNUP, arguments,
    finder::Finder,
    listed::listed,
    schema::{self, ToolInput},
};
use crate::{Route, endpoint::Endpoint, hints::Hints, openapi, routes::ROUTES};

/// The tool that finds operations by words.
pub const FIND: &str = "find_operation";
/// The tool that runs an operation that changes nothing.
pub const READ: &str = "read_operation";
/// The tool that runs an operation that may change something.
pub const CHANGE: &str = "change_operation";

/// The number of results that are shown with their arguments.
const WITH_ARGUMENTS: usize = 2;

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
    finder: Finder,
}

/// All tools, made when somebody first asks for one.
pub struct LazyToolbox(LazyLock<Toolbox, Box<dyn FnOnce() -> Toolbox + Send>>);

impl LazyToolbox {
    /// Returns the tools of a domain.
    #[must_use]
    pub fn new(domain: &Domain) -> Self {
        let domain = domain.clone();
        let operation = move |route| (route, Endpoint::new(route, domain.clone()));
        Self(LazyLock::new(Box::new(|| Toolbox::new(ROUTES.iter().map(operation).collect()))))
    }
}

impl Deref for LazyToolbox {
    type Target = Toolbox;

    fn deref(&self) -> &Toolbox {
        &self.0
    }
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
        let routes: Vec<_> = entries.iter().map(|entry| entry.route).collect();
        Self { names, runners: runners(), finder: Finder::new(&routes), entries }
    }

    /// Returns the tool of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&ToolEntry> {
        self.entries.get(*self.names.get(name)?)
    }

    /// Returns the operation whose name is nearest to this one, if one is near.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&'static str> {
        let names: Vec<&'static str> = self.entries.iter().map(|entry| entry.route.name).collect();
        let runners = [FIND, READ, CHANGE];
        if let Some(near) = closest_name(name, names.iter().copied().chain(runners)) {
            return names.iter().copied().chain(runners).find(|known| *known == near);
        }
        // Words in another order, and verbs of other services.
        let words: Vec<&str> =
            name.split(['_', '-', '.', ' ']).filter(|word| word.len() > 2).collect();
        let shared = |known: &str| {
            known.split('_').filter(|one| words.iter().any(|word| is_same_word(word, one))).count()
        };
        let best = names
            .iter()
            .copied()
            .max_by_key(|known| (shared(known), std::cmp::Reverse(known.len())))?;
        (shared(best) > 0).then_some(best)
    }

    /// Lists the tools that a caller sees; a caller without a key sees those of signing up.
    #[must_use]
    pub fn list(&self, selection: &Selection, caller: Option<&Caller>) -> Vec<Tool> {
        let Some(caller) = caller else {
            let signup = self.entries.iter().filter(|entry| SIGNUP.contains(&entry.route.name));
            return signup.map(|entry| entry.tool.clone()).collect();
        };
        let is_core = matches!(selection, Selection::Core);
        let listed = self.entries.iter().filter(|entry| selection.has(entry.route));
        let allowed = listed.filter(|entry| is_allowed(entry.route, caller));
        // The short list has only what works as it is; to ask for another scope, an agent finds the operation first.
        let allowed = allowed
            .filter(|entry| !is_core || entry.route.policy.missing_scope(&caller.scopes).is_none());
        let mut tools: Vec<_> = allowed.map(|entry| entry.tool.clone()).collect();
        if is_core {
            tools.extend(self.runners.iter().cloned());
        }
        tools
    }

    /// Returns the operations that a question may mean, best first, the best ones with their arguments. Operations that
    /// the usual list shows as tools are named and no more. A question that is a name is answered with that operation.
    #[must_use]
    pub fn search(&self, query: &str, caller: Option<&Caller>) -> Value {
        if let Some(entry) = self.find(query.trim()) {
            return json!({"operations": [search_result(entry, true)]});
        }
        let is_open = |place: usize| {
            caller.is_none_or(|caller| is_allowed(self.entries[place].route, caller))
        };
        let found = self.finder.find(query, is_open);
        let found = found.into_iter().map(|place| &self.entries[place]);
        let is_listed = |entry: &&ToolEntry| {
            let lacks =
                |caller: &Caller| entry.route.policy.missing_scope(&caller.scopes).is_some();
            entry.route.is_core && !caller.is_some_and(lacks)
        };
        let (listed, others): (Vec<_>, Vec<_>) = found.partition(is_listed);
        let results = others.iter().enumerate();
        let results = results.map(|(place, entry)| search_result(entry, place < WITH_ARGUMENTS));
        let tools: Vec<_> = listed.iter().map(|entry| entry.route.name).collect();
        let mut answer = json!({"operations": results.collect::<Vec<_>>()});
        if !tools.is_empty() {
            answer["tools"] = tools.into();
        }
        answer
    }
}

/// Returns true for the singular and the plural of a word.
fn is_same_word(one: &str, other: &str) -> bool {
    one.trim_end_matches('s').eq_ignore_ascii_case(other.trim_end_matches('s'))
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
    let tool = Tool::new(route.name, description(route), Arc::new(listed(&input)))
        .with_annotations(annotations(route));
    ToolEntry { route, endpoint, input, tool }
}

fn description(route: &Route) -> String {
    format!("{}. {}", route.summary, route.when)
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
            "Find operations that have no tool of their own in this list, by what is to be done; returns names, and the arguments of the best two. With an operation's name: its arguments.",
            Arc::new(schema::of::<arguments::Find>()),
        )
        .with_annotations(hints("find operation", true)),
        Tool::new(
            READ,
            "Run any operation that only reads, by its name.",
            Arc::new(schema::of::<arguments::Read>()),
        )
        .with_annotations(hints("read operation", true)),
        Tool::new(
            CHANGE,
            "Run any operation that may change something, by its name.",
            Arc::new(schema::of::<arguments::Change>()),
        )
        .with_annotations(hints("change operation", false)),
    ]
}

fn search_result(entry: &ToolEntry, with_arguments: bool) -> Value {
    let route = entry.route;
    let mut result = json!({
        "operation": route.name,
        "summary": route.summary,
        "run_with": if route.method.writes() { CHANGE } else { READ },
    });
    if with_arguments {
        result["when"] = route.when.into();
        result["needs"] = openapi::needs(route).into();
        result["arguments"] = listed(&entry.input).into();
    }
    result
}
