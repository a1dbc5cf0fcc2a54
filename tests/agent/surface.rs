//! The three interfaces of the service: its OpenAPI document, its MCP tools and its command line.

use std::process::{Command, Stdio};

use fanfare_tests::User;
use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::planner::{Input, Tool};

/// An interface of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// `/openapi.json` and HTTP.
    OpenApi,
    /// `tools/list` and `tools/call`.
    Mcp,
    /// `--help` and commands.
    Shell,
}

/// An agent's client of an interface, which counts the cost.
pub struct Surface {
    way: Interface,
    user: User,
    /// The calls that were made.
    pub calls: usize,
    /// Those of them that were refused.
    pub refused: usize,
    /// The bytes that were read of documents and replies.
    pub bytes: usize,
}

impl Surface {
    /// Returns a client that knows only an address and a key.
    pub const fn new(way: Interface, user: User) -> Self {
        Self { way, user, calls: 0, refused: 0, bytes: 0 }
    }

    /// Reads the available tools.
    pub async fn tools(&mut self) -> Vec<Tool> {
        match self.way {
            Interface::OpenApi => self.openapi().await,
            Interface::Mcp => self.mcp().await,
            Interface::Shell => self.shell().await,
        }
    }

    /// Reads the inputs of a tool, where the list did not name them.
    pub async fn inputs(&mut self, tool: &mut Tool) {
        if self.way == Interface::Shell && tool.inputs.is_empty() {
            let mut line: Vec<_> = tool.name.split(' ').map(str::to_owned).collect();
            line.push("--help".to_owned());
            let (_, text) = self.run(line).await;
            tool.inputs = inputs_of(&text);
        }
    }

    /// Calls a tool; returns whether it succeeded, and the reply.
    pub async fn call(&mut self, tool: &Tool, arguments: &Map<String, Value>) -> (bool, Value) {
        self.calls += 1;
        let (is_done, reply) = match self.way {
            Interface::OpenApi => self.request(tool, arguments).await,
            Interface::Mcp => self.tool_call(tool, arguments).await,
            Interface::Shell => self.command(tool, arguments).await,
        };
        self.refused += usize::from(!is_done);
        (is_done, reply)
    }

    async fn openapi(&mut self) -> Vec<Tool> {
        let answer = self.user.get("/openapi.json").await.expect(200);
        self.bytes += answer.text.len();
        let document = answer.body;
        let mut tools = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let text = |name: &str| operation[name].as_str().unwrap_or_default().to_owned();
                let mut inputs = Vec::new();
                for one in operation["parameters"].as_array().into_iter().flatten() {
                    let part = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
                    if one["deprecated"] != true && ["path", "query"].contains(&part("in").as_str())
                    {
                        inputs.push(Input {
                            name: part("name"),
                            doc: part("description"),
                            place: part("in"),
                        });
                    }
                }
                let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
                let schema = resolved(&document, schema);
                inputs.extend(properties(schema, "body"));
                let route = Some((method.to_uppercase(), path.clone()));
                let (name, doc) = (text("operationId"), text("summary"));
                tools.push(Tool { name, doc, inputs, route, run_with: None });
            }
        }
        tools
    }

    async fn request(&mut self, tool: &Tool, arguments: &Map<String, Value>) -> (bool, Value) {
        let (method, path) = tool.route.clone().unwrap();
        let (mut path, mut query, mut body) = (path, Vec::new(), Map::new());
        for (name, value) in arguments {
            let place = tool.inputs.iter().find(|input| input.name == *name);
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            match place.map(|input| input.place.as_str()) {
                Some("path") => path = path.replace(&format!("{{{name}}}"), &text),
                Some("query") => query.push(format!("{name}={text}")),
                _ => {
                    body.insert(name.clone(), value.clone());
                }
            }
        }
        if !query.is_empty() {
            path = format!("{path}?{}", query.join("&"));
        }
        let method: Method = method.parse().unwrap();
        let body = (method != Method::GET).then_some(Value::Object(body));
        let answer = self.user.send(method, &path, &[], body.as_ref()).await;
        self.bytes += answer.text.len();
        (answer.status < 300, answer.body)
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let accept = [("Accept", "application/json, text/event-stream")];
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = self.user.send(Method::POST, "/mcp", &accept, Some(&message)).await;
        self.bytes += answer.text.len();
        answer.expect(200).body["result"].clone()
    }

    async fn mcp(&mut self) -> Vec<Tool> {
        let listed = self.ask("tools/list", json!({})).await;
        let tools = listed["tools"].as_array().unwrap().iter().map(|tool| {
            let doc = tool["description"].as_str().unwrap();
            let doc = doc.split(". ").next().unwrap_or(doc).to_owned();
            let inputs = properties(&tool["inputSchema"], "body").collect();
            let name = tool["name"].as_str().unwrap().to_owned();
            Tool { name, doc, inputs, route: None, run_with: None }
        });
        tools.collect()
    }

    async fn tool_call(&mut self, tool: &Tool, arguments: &Map<String, Value>) -> (bool, Value) {
        let asked = match &tool.run_with {
            Some(runner) => {
                json!({"name": runner, "arguments": {"operation": tool.name, "arguments": arguments}})
            }
            None => json!({"name": tool.name, "arguments": arguments}),
        };
        let result = self.ask("tools/call", asked).await;
        (result["isError"] != true, result["structuredContent"].clone())
    }

    /// Asks for operations that are not in the list, where the interface has a way to.
    pub async fn more(&mut self, sentence: &str) -> Vec<Tool> {
        if self.way != Interface::Mcp {
            return Vec::new();
        }
        self.calls += 1;
        let asked = json!({"name": "find_operation", "arguments": {"query": sentence}});
        let found = self.ask("tools/call", asked).await["structuredContent"].clone();
        let described = found["operations"].as_array().into_iter().flatten();
        let described = described.filter(|one| one["arguments"].is_object()).map(|one| Tool {
            name: one["operation"].as_str().unwrap().to_owned(),
            doc: one["summary"].as_str().unwrap().to_owned(),
            inputs: properties(&one["arguments"], "body").collect(),
            route: None,
            run_with: one["run_with"].as_str().map(str::to_owned),
        });
        described.collect()
    }

    async fn shell(&mut self) -> Vec<Tool> {
        let (_, text) = self.run(vec!["--help".to_owned()]).await;
        let rest = text.split("api METHOD PATH").nth(1).unwrap_or_default();
        let chapters = rest.split("Each chapter").next().unwrap_or_default();
        let chapters: Vec<_> = chapters.split(',').map(|name| name.trim().to_owned()).collect();
        let mut tools = Vec::new();
        for chapter in chapters {
            // A chapter of two words is one argument.
            let (_, text) = self.run(vec![chapter.clone(), "--help".to_owned()]).await;
            let mut is_list = false;
            for line in text.lines() {
                match line {
                    "Commands:" => is_list = true,
                    line if !line.starts_with("  ") => is_list = false,
                    _ => {}
                }
                let named =
                    line.trim().split_once("  ").filter(|_| is_list && !line.starts_with("   "));
                if let Some((verb, doc)) = named {
                    let (name, doc) = (format!("{chapter} {verb}"), doc.trim().to_owned());
                    tools.push(Tool { name, doc, inputs: Vec::new(), route: None, run_with: None });
                }
            }
        }
        tools
    }

    async fn command(&mut self, tool: &Tool, arguments: &Map<String, Value>) -> (bool, Value) {
        let mut line: Vec<_> = tool.name.split(' ').map(str::to_owned).collect();
        for (name, value) in arguments {
            let kind = tool.inputs.iter().find(|input| input.name == *name);
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            match (kind.map(|input| input.place.as_str()), value) {
                (Some("path"), _) => line.push(text),
                (Some("TEXT" | "WORD,WORD"), Value::Array(items)) => {
                    for item in items {
                        line.extend([
                            format!("--{}", name.replace('_', "-")),
                            item.as_str().unwrap_or_default().to_owned(),
                        ]);
                    }
                }
                _ => line.push(format!("--{}={text}", name.replace('_', "-"))),
            }
        }
        line.extend(["--json", "--yes"].map(str::to_owned));
        let (is_done, text) = self.run(line).await;
        (is_done, serde_json::from_str(&text).unwrap_or_default())
    }

    async fn run(&mut self, line: Vec<String>) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fanfare"));
        command.args(line).stdin(Stdio::null());
        command.env("FANFARE_URL", &self.user.origin).env("FANFARE_API_KEY", &self.user.key);
        let done = tokio::task::spawn_blocking(move || command.output());
        let output = done.await.unwrap().expect("the binary runs");
        let is_done = output.status.success();
        let text = if is_done { output.stdout } else { output.stderr };
        self.bytes += text.len();
        (is_done, String::from_utf8_lossy(&text).into_owned())
    }
}

fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let path = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
    path.and_then(|path| document.pointer(path)).unwrap_or(schema)
}

fn properties<'a>(schema: &'a Value, place: &'a str) -> impl Iterator<Item = Input> + 'a {
    let known = schema["properties"].as_object().into_iter().flatten();
    known.filter(|(_, one)| one["deprecated"] != true).map(move |(name, one)| {
        let doc = one["description"].as_str().unwrap_or_default().to_owned();
        Input { name: name.clone(), doc, place: place.to_owned() }
    })
}

/// Reads the inputs of a command from its help: `<ID>` or `[ID]` in the usage line, and options.
fn inputs_of(text: &str) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if line == "Options of every command:" {
            break;
        }
        if let Some(usage) = line.strip_prefix("Usage:") {
            let words = usage.split_whitespace().filter(|word| word.starts_with(['<', '[']));
            let names = words.map(|word| word.trim_matches(['<', '>', '[', ']', '.']));
            inputs.extend(names.filter(|name| *name != "OPTIONS").map(|name| Input {
                name: name.to_lowercase(),
                doc: String::new(),
                place: "path".to_owned(),
            }));
        } else if let Some(option) = line.strip_prefix("--") {
            let (head, doc) = option.split_once("  ").unwrap_or((option, ""));
            let end = head.find([' ', '[', '=']).unwrap_or(head.len());
            let kind = head.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
            if !kind.is_empty() && !["whole-body", "FILE", "FIELD"].contains(&kind.as_str()) {
                let name = head[..end].replace('-', "_");
                inputs.push(Input { name, doc: doc.trim().to_owned(), place: kind });
            }
        } else if let Some(last) = inputs.last_mut().filter(|input| input.place != "path") {
            last.doc = format!("{} {line}", last.doc);
        }
    }
    inputs
}
