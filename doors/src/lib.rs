//! How a refusal reads at each door: over HTTP, as a tool's result, and on a command line.
//!
//! The service words a refusal once: operations by their ids or by method and path, fields by their names in JSON. Here
//! those become what the caller at a door can use. It knows no rules and no network; it is given the operations.

pub mod near_misses;

mod command;
mod scan;
mod tool;

pub use command::{flag, option, quoted};
use serde_json::Value;

/// A way to use the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// Requests over HTTP.
    Rest,
    /// Tools of agents (MCP).
    Mcp,
    /// Commands at a shell.
    Cli,
}

impl Door {
    /// All doors.
    pub const ALL: [Self; 3] = [Self::Rest, Self::Mcp, Self::Cli];
}

/// An operation of the API, with its names at the doors.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Its id, which is the name of its tool.
    pub id: String,
    /// HTTP method.
    pub method: String,
    /// Path with `{parameters}`.
    pub path: String,
    /// Its command, such as `fanfare posts create`.
    pub command: String,
    /// What it takes; only the command line asks for it.
    pub parameters: Vec<Parameter>,
}

/// A parameter of an operation.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name in the API.
    pub name: String,
    /// True if it stands in the path, so that a command takes it without a flag.
    pub is_in_path: bool,
    /// True if its flag is repeated for several values.
    pub is_repeated: bool,
}

impl Operation {
    /// Returns true if it takes a parameter of this name as a flag.
    fn takes_flag(&self, name: &str) -> bool {
        self.parameters.iter().any(|one| one.name == name && !one.is_in_path)
    }
}

/// The fields of refusals that are texts for people.
const TEXTS: [&str; 4] = ["error", "message", "remedy", "why"];

/// The fields that hold what was sent or what a network said; they stay as they are.
const FOREIGN: [&str; 4] = ["body", "fix", "platform_error", "arguments"];

/// The words of one door.
#[derive(Debug, Clone)]
pub struct Words {
    door: Door,
    operations: Vec<Operation>,
}

impl Words {
    /// Returns the words of a door to these operations.
    #[must_use]
    pub const fn new(door: Door, operations: Vec<Operation>) -> Self {
        Self { door, operations }
    }

    /// Rewrites a refusal, or a reply that holds some, in the words of the door. `operation` is the one that was asked
    /// for, if it is known.
    pub fn render(&self, refusal: &mut Value, operation: Option<&str>) {
        let operation = operation.and_then(|id| self.operations.iter().find(|one| one.id == id));
        self.walk(refusal, operation);
    }

    /// Rewrites only what is a refusal in a reply: the items of a batch that failed, the errors of posts.
    pub fn render_inside(&self, reply: &mut Value) {
        match reply {
            Value::Object(fields) => {
                let has = |name: &str| fields.contains_key(name);
                if has("code") && (has("remedy") || has("next")) {
                    return self.walk(reply, None);
                }
                fields.values_mut().for_each(|value| self.render_inside(value));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.render_inside(item)),
            _ => {}
        }
    }

    /// Rewrites a reply for somebody at a shell: the refusals in it in the words of the door, and next calls as commands.
    pub fn show(&self, reply: &mut Value) {
        self.render_inside(reply);
        command::name_calls(reply, &self.operations);
    }

    fn walk(&self, value: &mut Value, operation: Option<&Operation>) {
        match value {
            Value::Object(fields) => {
                let field = fields.get("field").and_then(Value::as_str).map(str::to_owned);
                for (name, value) in fields.iter_mut() {
                    match value {
                        Value::String(text) if TEXTS.contains(&name.as_str()) => {
                            let own = field.as_deref().filter(|_| name == "message");
                            *text = self.sentence(text, own, operation);
                        }
                        _ if FOREIGN.contains(&name.as_str()) => {}
                        _ => self.walk(value, operation),
                    }
                }
                if self.door == Door::Mcp && fields.contains_key("why") {
                    tool::call(fields, &self.operations);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.walk(item, operation)),
            _ => {}
        }
    }

    /// Returns a text in the words of the door.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        self.sentence(text, None, None)
    }

    /// Returns a text about a request of an operation in the words of the door.
    #[must_use]
    pub fn hint(&self, text: &str, operation: &str) -> String {
        self.sentence(text, None, self.operations.iter().find(|one| one.id == operation))
    }

    /// Returns a text about a request of an operation; one about a field often begins with its name.
    fn sentence(&self, text: &str, field: Option<&str>, operation: Option<&Operation>) -> String {
        let text = scan::phrases(self.door, text);
        let text = scan::operations(self.door, &text, &self.operations);
        match operation.filter(|_| self.door == Door::Cli) {
            Some(operation) => command::with_flags(&text, field, operation),
            None => text,
        }
    }

    /// Returns the name of a field as the door has it.
    #[must_use]
    pub fn field(&self, name: &str, operation: Option<&str>) -> String {
        let known = operation.and_then(|id| self.operations.iter().find(|one| one.id == id));
        match known.filter(|_| self.door == Door::Cli) {
            Some(operation) => command::field(name, operation),
            None => name.to_owned(),
        }
    }

    /// Returns a refusal, which is in the words of the door, as one text for agents.
    #[must_use]
    pub fn tool_text(&self, refusal: &Value) -> String {
        tool::text(refusal)
    }

    /// Returns a refusal as lines at a shell. `operation` is the one that was asked for, if it is known.
    #[must_use]
    pub fn command_lines(&self, refusal: &Value, operation: Option<&str>) -> String {
        let mut refusal = refusal.clone();
        self.render(&mut refusal, operation);
        let operation = operation.and_then(|id| self.operations.iter().find(|one| one.id == id));
        command::lines(&refusal, operation, &self.operations)
    }
}

#[cfg(test)]
mod tests;
