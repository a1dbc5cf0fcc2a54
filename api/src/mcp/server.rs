//! The MCP server, the same for every protocol version.

use std::sync::Arc;

use fanfare_core::{Code, Error, error::excerpt, remedies};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
        CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation,
        JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
        ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use salvo::http::request::Parts;
use serde_json::{Value, json};

use super::{
    admission::{Audience, OuterRequest},
    arguments::{self, NotRun},
    call::{self, ToolOutcome},
    guide, progress,
    toolbox::{CHANGE, FIND, LazyToolbox, READ, Selection, ToolEntry},
};
use crate::{progress::Progress, query, reply, words};

/// The methods with parameters, but for `initialize`: newer versions of the protocol have none.
const METHODS: [&str; 7] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
];

/// The server at one path.
#[derive(Clone)]
pub struct Server {
    toolbox: Arc<LazyToolbox>,
    audience: Audience,
    base_url: String,
}

type Context = RequestContext<RoleServer>;

impl Server {
    /// Returns the server; `base_url` is the origin of the service.
    #[must_use]
    pub const fn new(toolbox: Arc<LazyToolbox>, audience: Audience, base_url: String) -> Self {
        Self { toolbox, audience, base_url }
    }

    /// Returns the operation of a call, with its arguments and their place among those of the call.
    fn operation(&self, name: &str, arguments: JsonObject) -> Result<ToolCall<'_>, NotRun> {
        if self.audience == Audience::Anybody && !super::SIGNUP.contains(&name) {
            return Err(no_tool(name, None));
        }
        if name != READ && name != CHANGE {
            let entry =
                self.toolbox.find(name).ok_or_else(|| no_tool(name, self.toolbox.nearest(name)))?;
            return Ok(ToolCall { entry, arguments, place: "" });
        }
        let named = arguments.get("operation").and_then(Value::as_str).unwrap_or_default();
        let entry = self.toolbox.find(named);
        let input = entry.map(|entry| &entry.input);
        let (operation, arguments) = if name == READ {
            let read: arguments::Read = arguments::runner(arguments, input)?;
            (read.operation, read.arguments.unwrap_or_default())
        } else {
            let change: arguments::Change = arguments::runner(arguments, input)?;
            let own = change.arguments.unwrap_or_default();
            (change.operation, arguments::with_key(own, change.idempotency_key)?)
        };
        let entry = entry.ok_or_else(|| self.no_operation(&operation))?;
        if name == READ && entry.route.method.writes() {
            let message = format!("{operation} may change something, and {READ} only reads.");
            let remedy = format!("Run it with {CHANGE}.");
            return Err(Error::field(Code::InvalidField, "operation", message, remedy).into());
        }
        Ok(ToolCall { entry, arguments, place: "/arguments" })
    }

    /// Returns the refusal of an operation that there is not.
    fn no_operation(&self, name: &str) -> Error {
        let message = format!("There is no operation {:?}.", excerpt(name));
        let near = self.toolbox.nearest(name);
        let remedy = near.map_or_else(
            || format!("Call {FIND} to look for one."),
            |near| format!("Use {near} if you mean that, or call {FIND} to look for one."),
        );
        Error::field(Code::InvalidField, "operation", message, remedy)
    }

    async fn run(
        &self,
        request: CallToolRequestParams,
        context: &Context,
    ) -> Result<CallToolResult, ErrorData> {
        let sent = request.arguments.unwrap_or_default();
        let (outer, _) = outer_request(context)?;
        if request.name == FIND && self.audience == Audience::Members {
            let _ = outer.tool.set(FIND);
            return Ok(match arguments::runner::<arguments::Find>(sent.clone(), None) {
                Ok(find) => structured(self.toolbox.search(&find.query, outer.caller.as_ref())),
                Err(NotRun::Protocol(error)) => return Err(error),
                Err(NotRun::Refused(error)) => self.refusal(error, &sent, "", outer),
            });
        }
        let ToolCall { entry, arguments, place } = match self.operation(&request.name, sent.clone())
        {
            Ok(call) => call,
            Err(NotRun::Protocol(error)) => return Err(error),
            Err(NotRun::Refused(error)) => return Ok(self.refusal(error, &sent, "", outer)),
        };
        let _ = outer.tool.set(entry.route.name);
        let given = arguments.clone();
        let run = |progress| call::run(&entry.endpoint, &entry.input, outer, arguments, progress);
        let answer = async {
            match context.meta.get_progress_token() {
                Some(token) => {
                    let (progress, stages) = Progress::channel();
                    let run = Box::pin(run(progress));
                    progress::run_with_progress(run, stages, &context.peer, &token).await
                }
                None => run(Progress::default()).await,
            }
        };
        // Whoever has gone needs no answer; changes that have begun end in tasks of their own.
        let ran = tokio::select! {
            ran = answer => ran,
            () = outer.ended.cancelled() => Err(Error::new(Code::Unavailable, "The caller has gone.")),
        };
        Ok(match ran {
            Ok(outcome) => result(outcome, place),
            Err(error) => self.refusal(error, &given, place, outer),
        })
    }

    /// Returns an error that arose before the route was asked. `place` is where `arguments` stand in the call.
    fn refusal(
        &self,
        error: Error,
        arguments: &JsonObject,
        place: &str,
        outer: &OuterRequest,
    ) -> CallToolResult {
        let situation = remedies::RequestContext {
            base_url: self.base_url.clone(),
            body: Some(arguments.clone().into()),
            body_pointer: place.to_owned(),
            ..remedies::RequestContext::default()
        };
        let error = remedies::add_remedies(error, &situation);
        let refusal = reply::refusal(&error);
        refusal_result(reply::refusal_body(refusal.body(), &outer.request_id, &self.base_url))
    }
}

/// A call of an operation.
struct ToolCall<'a> {
    entry: &'a ToolEntry,
    arguments: JsonObject,
    /// The JSON Pointer of `arguments` in those of the tool.
    place: &'static str,
}

fn no_tool(name: &str, near: Option<&str>) -> NotRun {
    let near = near.map_or_else(String::new, |near| format!(" Did you mean {near}?"));
    let name = excerpt(name);
    let message = format!("There is no tool {name:?}.{near} Call {FIND} to look for one.");
    ErrorData::invalid_params(message, None).into()
}

fn result(ToolOutcome { status, mut body }: ToolOutcome, place: &str) -> CallToolResult {
    move_fixes(&mut body, place);
    if status >= 400 {
        return refusal_result(body);
    }
    words::tools().render_inside(&mut body);
    structured(body)
}

/// Moves the fixes of a reply from the body of the request to the arguments of the call, where that body is at `place`.
fn move_fixes(reply: &mut Value, place: &str) {
    if place.is_empty() {
        return;
    }
    match reply {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_array_mut() {
                    Some(fixes) if name == "fix" => {
                        fixes.iter_mut().for_each(|fix| prefix_pointers(fix, place));
                    }
                    _ => move_fixes(value, place),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| move_fixes(item, place)),
        _ => {}
    }
}

fn prefix_pointers(fix: &mut Value, place: &str) {
    for name in ["from", "path"] {
        if let Some(Value::String(pointer)) = fix.get_mut(name) {
            pointer.insert_str(0, place);
        }
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
fn refusal_result(mut body: Value) -> CallToolResult {
    words::tools().render(&mut body, None);
    let mut result =
        CallToolResult::error(vec![ContentBlock::text(words::tools().tool_text(&body))]);
    result.structured_content = Some(body);
    result
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
        let wanted = query::pairs(parts.uri.query()).unwrap_or_default();
        let wanted = wanted.iter().find(|(name, _)| name == "tools");
        let selection = Selection::of(wanted.map(|(_, value)| value.as_str()));
        Ok(ListToolsResult::with_all_items(self.toolbox.list(&selection, outer.caller.as_ref())))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(Box::pin(self.run(request, &context)).await?.into())
    }

    /// Answers a request whose method is unknown, or known with parameters that it does not take.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: Context,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        if METHODS.contains(&method) {
            let message = format!(
                "The params of {:?} are not those of the protocol; `arguments` is an object.",
                excerpt(method)
            );
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("There is no method {:?} here.", excerpt(method));
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(guide::resources()))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(guide::templates()))
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
