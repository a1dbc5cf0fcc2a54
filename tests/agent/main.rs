//! A simple agent that knows only the interface's own description does everyday tasks, with each of three interfaces: the
//! OpenAPI document, MCP tools and the command line. It plans by matching words.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where it fails")]

mod planner;
mod surface;
mod tasks;

use std::{collections::HashMap, time::Duration};

use fanfare_tests::TestApp;
use planner::Tool;
use serde_json::{Map, Value};
use surface::{Interface, Surface};
use tasks::Task;

/// The most attempts of a task.
const TRIES: usize = 200;

struct Agent {
    surface: Surface,
    tools: Vec<Tool>,
    remembered: HashMap<&'static str, Value>,
}

impl Agent {
    /// Replaces names of remembered values by the values.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(name) => self.remembered.get(name.as_str()).unwrap_or(value).clone(),
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            other => other.clone(),
        }
    }

    /// Does a task; returns the reply, or what went wrong.
    async fn attempt(&mut self, task: &Task) -> Result<Value, String> {
        let listed = planner::choose(&self.tools, task.say).ok_or("there are no tools")?;
        if !planner::covers(listed, task.say) {
            let found = self.surface.more(task.say).await;
            let known: Vec<_> = self.tools.iter().map(|tool| tool.name.clone()).collect();
            self.tools.extend(found.into_iter().filter(|tool| !known.contains(&tool.name)));
        }
        let chosen = planner::choose(&self.tools, task.say).ok_or("there are no tools")?;
        let (name, mut tool) = (chosen.name.clone(), chosen.clone());
        self.surface.inputs(&mut tool).await;
        let facts: Vec<_> =
            task.facts.iter().map(|(label, value)| (*label, self.filled(value))).collect();
        let arguments = planner::arguments(&tool, &facts);
        let reply = self.called(&tool, arguments.clone()).await;
        let reply = reply.map_err(|why| format!("{name} {}: {why}", Value::Object(arguments)))?;
        let (pointer, value) = &task.expect;
        let found = reply.pointer(pointer).filter(|found| !found.is_null());
        let found = found.ok_or_else(|| format!("{name}: nothing at {pointer} in {reply}"))?;
        if !value.is_null() && *found != self.filled(value) {
            return Err(format!("{name}: {found} at {pointer}"));
        }
        Ok(reply)
    }

    /// Calls a tool, and again with the fixes of an error.
    async fn called(
        &mut self,
        tool: &Tool,
        arguments: Map<String, Value>,
    ) -> Result<Value, String> {
        let (is_done, reply) = self.surface.call(tool, &arguments).await;
        if is_done {
            return Ok(reply);
        }
        let mended = planner::with_fixes(&arguments, &reply).ok_or_else(|| reply.to_string())?;
        match self.surface.call(tool, &mended).await {
            (true, reply) => Ok(reply),
            (false, reply) => Err(format!("still, with its fixes: {reply}")),
        }
    }
}

/// Does all tasks on a new service; returns a line of the table, and the failed tasks.
async fn all(way: Interface) -> (String, Vec<String>) {
    let app = TestApp::start().await;
    let user = app.user().await;
    let mut surface = Surface::new(way, user);
    let tools = surface.tools().await;
    let mut agent = Agent { surface, tools, remembered: HashMap::new() };
    let later = app.at(7_200);
    let local = later.trim_end_matches('Z').split('.').next().unwrap_or_default().to_owned();
    let tasks = tasks::tasks(&later, &local);
    let mut missed = Vec::new();
    for task in &tasks {
        let mut outcome = agent.attempt(task).await;
        for _ in 0..TRIES {
            if outcome.is_ok() || !task.until {
                break;
            }
            app.pass_time(Duration::from_secs(1)).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            outcome = agent.attempt(task).await;
        }
        match outcome {
            Ok(reply) => {
                if let Some((pointer, name)) = task.remember {
                    agent
                        .remembered
                        .insert(name, reply.pointer(pointer).cloned().unwrap_or_default());
                }
            }
            Err(why) => missed.push(format!("{}: {why}", task.say)),
        }
    }
    let (done, of) = (tasks.len() - missed.len(), tasks.len());
    let (calls, tokens) = (agent.surface.calls, agent.surface.bytes / 4);
    let refused = agent.surface.refused;
    let line = format!(
        "{way:?}: {done} of {of} tasks, {calls} calls, {refused} of them refused, about {tokens} tokens read"
    );
    eprintln!("{line}");
    (line, missed)
}

async fn everyday(way: Interface) {
    let (line, missed) = all(way).await;
    assert!(missed.is_empty(), "{line}\n{}", missed.join("\n"));
}

#[tokio::test]
async fn an_agent_does_everyday_tasks_by_the_openapi_document() {
    everyday(Interface::OpenApi).await;
}

#[tokio::test]
async fn an_agent_does_everyday_tasks_by_its_mcp_tools() {
    everyday(Interface::Mcp).await;
}

#[tokio::test]
async fn an_agent_does_everyday_tasks_by_the_help_of_the_command_line() {
    everyday(Interface::Shell).await;
}
