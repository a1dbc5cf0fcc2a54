//! The MCP server, the same for every protocol version.

use std::sync::Arc;

use fanfare_domain::{Code, Error, RefusalDetails, error::excerpt};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
        GetPromptRequestParams, GetPromptResponse, Implementation, JsonObject, ListPromptsResult,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
        ReadResourceResponse, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use salvo::http::request::Parts;
use serde_json::{Value, json};

use super::{
    admission::{Audience, OuterRequest},
    call::{self, ToolOutcome},
    guide, progress,
    toolbox::{CHANGE, FIND, READ, Selection, ToolEntry, Toolbox},
};
use crate::{progress::Progress, query, reply};

/// The longest result, in bytes of text.
const LONGEST: usize = 40_000;

/// The server at one path.
#[derive(Clone)]
pub struct Server {
    toolbox: Arc<Toolbox>,
    audience: Audience,
    base_url: String,
}

type Context = RequestContext<RoleServer>;

impl Server {
    /// Returns the server; `base_url` is the origin of the service.
    #[must_use]
    pub const fn new(toolbox: Arc<Toolbox>, audience: Audience, base_url: String) -> Self {
        Self { toolbox, audience, base_url }
    }

    /// Returns the operation of a call, and its arguments.
    fn operation(
        &self,
        name: &str,
        mut arguments: JsonObject,
    ) -> Result<(&ToolEntry, JsonObject), ErrorData> {
        let unknown = || {
            let message = format!(
                "There is no tool {:?}. Call find_operation to look for one.",
                excerpt(name)
            );
            ErrorData::invalid_params(message, None)
        };
        if self.audience == Audience::Anybody && !super::SIGNUP.contains(&name) {
            return Err(unknown());
        }
        if name != READ && name != CHANGE {
            return self.toolbox.find(name).map(|entry| (entry, arguments)).ok_or_else(unknown);
        }
        let operation = arguments.remove("operation");
        let operation = operation.as_ref().and_then(Value::as_str).unwrap_or_default();
        let entry = self.toolbox.find(operation).ok_or_else(|| {
            let message = format!(
                "There is no operation {:?}. Call find_operation to look for one.",
                excerpt(operation)
            );
            ErrorData::invalid_params(message, None)
        })?;
        if name == READ && entry.route.method.writes() {
            let message = format!("{operation} may change something; run it with {CHANGE}.");
            return Err(ErrorData::invalid_params(message, None));
        }
        match arguments.remove("arguments") {
            None | Some(Value::Null) => Ok((entry, JsonObject::new())),
            Some(Value::Object(inner)) => Ok((entry, inner)),
            Some(_) => Err(ErrorData::invalid_params("arguments must be an object.", None)),
        }
    }

    async fn run(
        &self,
        request: CallToolRequestParams,
        context: &Context,
    ) -> Result<CallToolResult, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let (outer, _) = outer_request(context)?;
        if request.name == FIND && self.audience == Audience::Members {
            let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
            let _ = outer.tool.set(FIND);
            return Ok(structured(self.toolbox.search(query, outer.caller.as_ref())));
        }
        let (entry, arguments) = self.operation(&request.name, arguments)?;
        let _ = outer.tool.set(entry.route.name);
        let run = |progress| call::run(&entry.endpoint, &entry.input, outer, arguments, progress);
        let ran = match context.meta.get_progress_token() {
            Some(token) => {
                let (progress, stages) = Progress::channel();
                progress::run_with_progress(run(progress), stages, &context.peer, &token).await
            }
            None => run(Progress::default()).await,
        };
        Ok(match ran {
            Ok(outcome) => self.result(outcome, outer),
            Err(error) => self.refusal(&error, outer),
        })
    }

    fn result(
        &self,
        ToolOutcome { status, body }: ToolOutcome,
        outer: &OuterRequest,
    ) -> CallToolResult {
        if status >= 400 {
            return refusal_result(&body);
        }
        let length = body.to_string().len();
        if length <= LONGEST {
            return structured(body);
        }
        let message =
            format!("The result has {length} bytes; at most {LONGEST} are given to a tool.");
        let limit = Some(LONGEST as u64);
        let remedy =
            Some("Ask for less: a smaller limit, a filter, or one entry by its id.".to_owned());
        let details = RefusalDetails { limit, remedy, ..RefusalDetails::default() };
        self.refusal(&Error::new(Code::ResultTooLarge, message).with_details(details), outer)
    }

    fn refusal(&self, error: &Error, outer: &OuterRequest) -> CallToolResult {
        refusal_result(&reply::refusal_body(
            reply::refusal(error).body(),
            &outer.request_id,
            &self.base_url,
        ))
    }
}

/// Returns the HTTP request of a message.
fn outer_request(context: &Context) -> Result<(&OuterRequest, &Parts), ErrorData> {
    let parts = context.extensions.get::<Parts>();
    let both = parts.and_then(|parts| Some((parts.extensions.get::<OuterRequest>()?, parts)));
    both.ok_or_else(|| ErrorData::internal_error("the request is unknown", None))
}

fn structured(body: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(body.to_string())]);
    result.structured_content = Some(body);
    result
}

/// Returns an error as a tool result: what is wrong, what to do, and the id of the request.
fn refusal_result(body: &Value) -> CallToolResult {
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let remedies = body["validation_errors"].as_array().into_iter().flatten();
    let remedies = remedies.filter_map(|broken| broken["remedy"].as_str());
    let mut remedies: Vec<_> = remedies.chain(body["remedy"].as_str()).collect();
    remedies.dedup();
    let remedy = match remedies.is_empty() {
        true => String::new(),
        false => format!(" Remedy: {}", remedies.join(" ")),
    };
    let line = format!(
        "{}: {}{remedy}{} (request {})",
        text("code"),
        text("error"),
        fixes_and_calls(body),
        text("request_id")
    );
    let mut result = CallToolResult::error(vec![ContentBlock::text(line)]);
    result.structured_content = Some(body.clone());
    result
}

/// Returns the fixes and next calls of an error as text, for clients that show agents only the text.
fn fixes_and_calls(body: &Value) -> String {
    let broken = body["validation_errors"].as_array().into_iter().flatten();
    let listed = |name: &str| -> Vec<Value> {
        let own = body[name].as_array().into_iter().flatten();
        let of_fields = broken.clone().flat_map(|one| one[name].as_array().into_iter().flatten());
        of_fields.chain(own).cloned().collect()
    };
    let mut text = String::new();
    for (name, title) in [("fix", "Fix (JSON Patch on the arguments)"), ("next", "Next")] {
        let entries = listed(name);
        if !entries.is_empty() {
            text += &format!(" {title}: {}", Value::Array(entries));
        }
    }
    text
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = match self.audience {
            Audience::Members => ServerCapabilities::builder()
                .enable_tools()
                .enable_resources()
                .enable_prompts()
                .build(),
            Audience::Anybody => ServerCapabilities::builder().enable_tools().build(),
        };
        let mut info = ServerConfig::new(capabilities);
        info.server_info =
            Implementation::new("fanfare", env!("CARGO_PKG_VERSION")).with_title("Fanfare");
        info.instructions = Some(guide::INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let (outer, parts) = outer_request(&context)?;
        let wanted = query::pairs(parts.uri.query());
        let wanted = wanted.iter().find(|(name, _)| name == "tools");
        let selection = Selection::of(wanted.map(|(_, value)| value.as_str()));
        Ok(ListToolsResult::with_all_items(self.toolbox.list(&selection, outer.caller.as_ref())))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.run(request, &context).await?.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(guide::resources()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = guide::read(&request.uri, &self.base_url).ok_or_else(|| {
            ErrorData::resource_not_found(
                "There is no such resource.",
                Some(json!({"uri": excerpt(&request.uri)})),
            )
        })?;
        Ok(read.into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(guide::prompts()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = guide::prompt(&request.name, request.arguments.as_ref());
        let prompt = prompt.ok_or_else(|| {
            ErrorData::invalid_params(
                format!("There is no prompt {:?}.", excerpt(&request.name)),
                None,
            )
        })?;
        Ok(prompt.into())
    }
}
