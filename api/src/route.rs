//! A row of the route table: [`Route`].

use fanfare_core::{
    Code, Result,
    access::{PlanTier, Role, Scope},
    input::strict,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Bucket, Handler, PublicCall, WorkspaceScope, body};

/// An HTTP method of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the method of the same name")]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    /// All methods.
    pub const ALL: &[Self] = &[Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// Returns the name, as in the request line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Returns true for methods that may change something.
    #[must_use]
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Get)
    }
}

/// Whose rows a route reads and changes. It decides which credentials can use the route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BelongsTo {
    /// The caller, across all workspaces: a credential that is bound to one workspace cannot use the route.
    Person,
    /// One workspace, or rows that name theirs: a bound credential reaches those of its own workspace.
    Workspace,
    /// The service: the same for every caller.
    Service,
}

impl BelongsTo {
    /// Returns the name, as the OpenAPI document shows it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Workspace => "workspace",
            Self::Service => "service",
        }
    }
}

/// The policy of a route.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Whose rows it reads and changes.
    pub belongs_to: BelongsTo,
    /// The scope that the key must have; `None` admits any key.
    pub scope: Option<Scope>,
    /// An alternative to that scope.
    pub or_scope: Option<Scope>,
    /// The lowest role in the workspace that may use the route.
    pub role: Role,
    /// A higher role for requests that touch certain fields.
    pub raised: Option<RaisedRole>,
    /// The drafts for which [`Role::Editor`] is enough.
    pub drafts: Option<Drafts>,
    /// True if the workspace must have the API add-on.
    pub addon: bool,
    /// The lowest plan that includes the route, if not all do.
    pub plan: Option<PlanTier>,
    /// The way to find the workspace of a request.
    pub workspace: WorkspaceScope,
    /// True if access tokens of OAuth clients are accepted; else only API keys are.
    pub allows_tokens: bool,
}

impl Policy {
    /// Returns the scope that is missing from these; `None` if they are enough.
    #[must_use]
    pub fn missing_scope(&self, scopes: &[Scope]) -> Option<Scope> {
        let has = |scope: &Scope| scopes.contains(scope);
        self.scope.filter(|scope| !has(scope) && !self.or_scope.as_ref().is_some_and(has))
    }
}

/// The drafts for which a lower role is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drafts {
    /// A new one, without a time.
    New,
    /// One of the caller's own. The handler looks at the post.
    Own,
}

impl Drafts {
    /// Returns when the lower role is enough, for readers of the documentation.
    #[must_use]
    pub const fn doc(self) -> &'static str {
        match self {
            Self::New => "with `status: draft` and without a time",
            Self::Own => "for a draft of their own",
        }
    }

    /// Returns true if the lower role may be enough for a request with this body.
    #[must_use]
    pub fn covers(self, body: Option<&Value>) -> bool {
        let has = |field: &str| body.is_some_and(|body| body.get(field).is_some());
        match self {
            Self::New => {
                let is_draft = body.is_some_and(|body| body["status"] == "draft");
                is_draft && !has("scheduled_at") && !has("timezone")
            }
            Self::Own => true,
        }
    }
}

/// A higher role, required when the body contains one of these fields.
#[derive(Debug, Clone, Copy)]
pub struct RaisedRole {
    /// Names of top-level fields of the body.
    pub fields: &'static [&'static str],
    /// The role.
    pub role: Role,
}

/// A route: its path, policy, handler and documentation.
#[derive(Clone, Copy)]
pub struct Route {
    /// HTTP method.
    pub method: Method,
    /// Path with `{parameters}`, as the router and the OpenAPI document both write them.
    pub path: &'static str,
    /// Its name, a verb and a noun; also the `operationId`.
    pub name: &'static str,
    /// Its policy.
    pub policy: Policy,
    /// The handler.
    pub handler: &'static dyn Handler,
    /// The handler of a route that needs no key; it replaces `handler`.
    pub public: Option<&'static dyn Handler<PublicCall>>,
    /// The rate limit it counts against.
    pub bucket: Bucket,
    /// The chapter of the documentation.
    pub tag: &'static str,
    /// One line for readers of the documentation.
    pub summary: &'static str,
    /// One sentence for agents: when to use it, and when not.
    pub when: &'static str,
    /// The body, if there is one.
    pub body: Option<Body>,
    /// The query, if there is one.
    pub query: Option<Query>,
    /// The successful replies.
    pub replies: [Option<Success>; 3],
    /// Errors of its own, besides those of its policy.
    pub refusals: &'static [Code],
    /// The path of the reply's main entry, which commands show; empty where the reply has one object or list, or is the
    /// entry itself.
    pub shows: &'static str,
    /// The entry of its reply whose version is the `ETag`; changes of it take `If-Match`.
    pub versioned: Option<&'static str>,
    /// True if agents see it as a tool by default.
    pub is_core: bool,
    /// True if the `Idempotency-Key` covers each item of the body separately; the handler takes care of it.
    pub keyed_by_item: bool,
    /// True if the file of the body may also come as `multipart/form-data`.
    pub takes_form: bool,
    /// The largest body, in bytes.
    pub max_body: usize,
    /// The error for a larger body.
    pub too_large: Code,
}

/// A successful reply.
#[derive(Debug, Clone, Copy)]
pub struct Success {
    /// HTTP status.
    pub status: u16,
    /// When it is sent, for readers of the documentation.
    pub doc: &'static str,
}

/// A JSON body and its type.
#[derive(Clone, Copy)]
pub struct Body {
    /// Its JSON Schema; named types go to the generator's definitions.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Checks that a value is such a body.
    pub check: fn(Value) -> Result<()>,
    /// An example, as JSON text.
    pub example: &'static str,
}

impl Body {
    /// Returns a body of type `T`.
    #[must_use]
    pub const fn of<T: DeserializeOwned + JsonSchema + 'static>(example: &'static str) -> Self {
        Self { schema: SchemaGenerator::subschema_for::<T>, check: check::<T>, example }
    }
}

fn check<T: DeserializeOwned + JsonSchema + 'static>(value: Value) -> Result<()> {
    strict::read::<T>(value).map(drop)
}

/// A query string and its type.
#[derive(Clone, Copy)]
pub struct Query {
    /// JSON Schema of an object with one property for each parameter.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

impl Query {
    /// Returns a query of type `T`.
    #[must_use]
    pub const fn of<T: DeserializeOwned + JsonSchema>() -> Self {
        Self { schema: T::json_schema }
    }
}

/// Command words that the command line uses for something else.
const TAKEN: [(&str, &str); 1] = [("media", "upload")];

impl Route {
    /// Returns a route without a body, a query or a rate limit of its own; the methods below add them.
    #[must_use]
    pub const fn new(
        method: Method,
        path: &'static str,
        name: &'static str,
        policy: Policy,
        handler: &'static dyn Handler,
    ) -> Self {
        Self {
            method,
            path,
            name,
            policy,
            handler,
            public: None,
            bucket: Bucket::Other,
            tag: "",
            summary: "",
            when: "",
            body: None,
            query: None,
            replies: [None; 3],
            refusals: &[],
            shows: "",
            versioned: None,
            is_core: false,
            keyed_by_item: false,
            takes_form: false,
            max_body: body::LARGEST,
            too_large: Code::PayloadTooLarge,
        }
    }

    /// Makes the route public: this handler answers without a key, and the policy does not apply.
    #[must_use]
    pub const fn public(mut self, handler: &'static dyn Handler<PublicCall>) -> Self {
        self.public = Some(handler);
        self
    }

    /// Sets its chapter and its summary in the documentation.
    #[must_use]
    pub const fn doc(mut self, tag: &'static str, summary: &'static str) -> Self {
        self.tag = tag;
        self.summary = summary;
        self
    }

    /// Sets the sentence that tells agents when to use it.
    #[must_use]
    pub const fn when(mut self, sentence: &'static str) -> Self {
        self.when = sentence;
        self
    }

    /// Counts requests against this rate limit.
    #[must_use]
    pub const fn counts_against(mut self, bucket: Bucket) -> Self {
        self.bucket = bucket;
        self
    }

    /// Accepts this body.
    #[must_use]
    pub const fn takes_body(mut self, body: Body) -> Self {
        self.body = Some(body);
        self
    }

    /// Accepts this query.
    #[must_use]
    pub const fn takes_query(mut self, query: Query) -> Self {
        self.query = Some(query);
        self
    }

    /// Adds a successful reply. Replies have the handler's bodies in order; the last body serves all further replies.
    #[must_use]
    pub const fn answers(mut self, status: u16, doc: &'static str) -> Self {
        let mut place = 0;
        while self.replies[place].is_some() {
            place += 1;
        }
        self.replies[place] = Some(Success { status, doc });
        self
    }

    /// Sets the errors of its own, besides those of its policy.
    #[must_use]
    pub const fn refuses(mut self, codes: &'static [Code]) -> Self {
        self.refusals = codes;
        self
    }

    /// Names the main entry of a reply that holds several objects or lists, or a text: `post`, `captions.variants`.
    #[must_use]
    pub const fn shows(mut self, path: &'static str) -> Self {
        self.shows = path;
        self
    }

    /// Names the entry of its reply that has a version.
    #[must_use]
    pub const fn versioned(mut self, entry: &'static str) -> Self {
        self.versioned = Some(entry);
        self
    }

    /// Returns true if it takes `If-Match`.
    #[must_use]
    pub const fn takes_if_match(&self) -> bool {
        self.versioned.is_some()
            && matches!(self.method, Method::Patch | Method::Put | Method::Delete)
    }

    /// Makes it a tool that agents see by default.
    #[must_use]
    pub const fn core(mut self) -> Self {
        self.is_core = true;
        self
    }

    /// Lets the `Idempotency-Key` cover each item of the body separately.
    #[must_use]
    pub const fn keyed_by_item(mut self) -> Self {
        self.keyed_by_item = true;
        self
    }

    /// Also accepts the file of its body as `multipart/form-data`.
    #[must_use]
    pub const fn takes_form(mut self) -> Self {
        self.takes_form = true;
        self
    }

    /// Sets the largest body, in bytes, and the error for a larger one.
    #[must_use]
    pub const fn max_body(mut self, bytes: usize, too_large: Code) -> Self {
        self.max_body = bytes;
        self.too_large = too_large;
        self
    }

    /// Returns the schemas of its successful replies, in order of status.
    pub fn bodies(&self, generator: &mut SchemaGenerator) -> Vec<Schema> {
        match self.public {
            Some(handler) => handler.bodies(generator),
            None => self.handler.bodies(generator),
        }
    }

    /// Returns the names of the path's parameters, in order.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|step| step.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Returns the words of the command for this operation: its chapter, and its name without the words of the chapter.
    /// `create_post` of `posts` is `fanfare posts create`, and `create_api_key` of `keys` is `fanfare keys create`.
    #[must_use]
    pub fn command(&self) -> String {
        let singular: Vec<_> = self.tag.split(' ').map(|word| word.trim_end_matches('s')).collect();
        let is_chapter = |word: &&str| {
            singular.contains(&word.trim_end_matches('s')) || (self.tag == "keys" && *word == "api")
        };
        let words: Vec<_> = self.name.split('_').filter(|word| !is_chapter(word)).collect();
        let verb = words.join("-");
        let is_taken = TAKEN.contains(&(self.tag, verb.as_str()));
        let verb = if verb.is_empty() || is_taken { self.name.replace('_', "-") } else { verb };
        format!("fanfare {} {verb}", self.tag)
    }
}
