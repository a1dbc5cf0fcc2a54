//! A row of the route table.

use fanfare_domain::{
    Code, Result,
    access::{PlanTier, Role, Scope},
    input::strict,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Bucket, Handler, PublicCall, WorkspaceScope, body};

/// An HTTP method that routes have.
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
    /// Its name on the wire.
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

    /// True for all that may change something.
    #[must_use]
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Get)
    }
}

/// The policy of a route.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// The scope that the key needs; `None` admits any key.
    pub scope: Option<Scope>,
    /// Another scope that serves as well.
    pub or: Option<Scope>,
    /// The least role in the workspace.
    pub role: Role,
    /// A higher role for requests that touch certain fields.
    pub raised: Option<Raised>,
    /// Must the workspace have the API add-on?
    pub addon: bool,
    /// The least plan, if the route is part of one.
    pub plan: Option<PlanTier>,
    /// The way the workspace is found.
    pub workspace: WorkspaceScope,
    /// May an access token of an OAuth client be used, or only an API key?
    pub tokens: bool,
}

impl Policy {
    /// Returns the scope that these scopes lack; `None` if they are enough.
    #[must_use]
    pub fn lacking(&self, scopes: &[Scope]) -> Option<Scope> {
        let has = |scope: &Scope| scopes.contains(scope);
        self.scope.filter(|scope| !has(scope) && !self.or.as_ref().is_some_and(has))
    }
}

/// A role that a request needs when its body names one of these fields.
#[derive(Debug, Clone, Copy)]
pub struct Raised {
    /// Names of fields at the top of the body.
    pub fields: &'static [&'static str],
    /// The role.
    pub role: Role,
}

/// One route: address, policy, handler, and what the documents say of it.
#[derive(Clone, Copy)]
pub struct Route {
    /// HTTP method.
    pub method: Method,
    /// Path with `{parameters}`, as the router and the OpenAPI document both write them.
    pub path: &'static str,
    /// Its name, and `operationId`: a verb and a noun.
    pub name: &'static str,
    /// Its policy.
    pub policy: Policy,
    /// The handler.
    pub handler: &'static dyn Handler,
    /// The handler in its place, if no key is needed.
    pub public: Option<&'static dyn Handler<PublicCall>>,
    /// The rate limit it counts against.
    pub bucket: Bucket,
    /// The chapter of the documents it stands in.
    pub tag: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// One sentence for agents: when it is the right one, and when not.
    pub when: &'static str,
    /// The body it takes, if any.
    pub body: Option<Body>,
    /// The query it takes, if any.
    pub query: Option<Query>,
    /// Answers of success.
    pub replies: [Option<Success>; 3],
    /// Refusals of its own, besides those that its policy brings.
    pub refusals: &'static [Code],
    /// True if agents see it as a tool of its own without asking for more.
    pub core: bool,
    /// An `Idempotency-Key` covers each item of the body by itself, and the handler sees to it.
    pub keyed_by_item: bool,
    /// The file of the body may also come as a form.
    pub takes_form: bool,
    /// Largest body, in bytes.
    pub largest: usize,
    /// The error for a larger body.
    pub too_large: Code,
}

/// An answer of success.
#[derive(Debug, Clone, Copy)]
pub struct Success {
    /// HTTP status.
    pub status: u16,
    /// The time at which it is given, for people.
    pub doc: &'static str,
}

/// A JSON body and its type.
#[derive(Clone, Copy)]
pub struct Body {
    /// Its JSON Schema; named types go to the generator's definitions.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// True if a value is such a body.
    pub check: fn(Value) -> Result<()>,
    /// One that is, as JSON text.
    pub example: &'static str,
}

impl Body {
    /// A body that is read as `T`.
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
    /// A query that is read as `T`.
    #[must_use]
    pub const fn of<T: DeserializeOwned + JsonSchema>() -> Self {
        Self { schema: T::json_schema }
    }
}

impl Route {
    /// A route. What nobody says of it is: no body, no query, no limit of its own.
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
            core: false,
            keyed_by_item: false,
            takes_form: false,
            largest: body::LARGEST,
            too_large: Code::PayloadTooLarge,
        }
    }

    /// Needs no key: this answers, and the policy says nothing.
    #[must_use]
    pub const fn answers_anybody(mut self, handler: &'static dyn Handler<PublicCall>) -> Self {
        self.public = Some(handler);
        self
    }

    /// Its chapter and its line in the documents.
    #[must_use]
    pub const fn doc(mut self, tag: &'static str, summary: &'static str) -> Self {
        self.tag = tag;
        self.summary = summary;
        self
    }

    /// Says to agents when it is the right one, and when not.
    #[must_use]
    pub const fn when(mut self, sentence: &'static str) -> Self {
        self.when = sentence;
        self
    }

    /// Counts against this limit.
    #[must_use]
    pub const fn counts(mut self, bucket: Bucket) -> Self {
        self.bucket = bucket;
        self
    }

    /// Takes this body.
    #[must_use]
    pub const fn takes(mut self, body: Body) -> Self {
        self.body = Some(body);
        self
    }

    /// Takes this query.
    #[must_use]
    pub const fn asks(mut self, query: Query) -> Self {
        self.query = Some(query);
        self
    }

    /// Answers so, or (said again) also so, with the bodies of its handler in their order; the last body serves all further
    /// answers.
    #[must_use]
    pub const fn answers(mut self, status: u16, doc: &'static str) -> Self {
        let mut place = 0;
        while self.replies[place].is_some() {
            place += 1;
        }
        self.replies[place] = Some(Success { status, doc });
        self
    }

    /// Refuses with these codes, besides those its policy brings.
    #[must_use]
    pub const fn refuses(mut self, codes: &'static [Code]) -> Self {
        self.refusals = codes;
        self
    }

    /// Agents see it as a tool of its own without asking for more.
    #[must_use]
    pub const fn core(mut self) -> Self {
        self.core = true;
        self
    }

    /// An `Idempotency-Key` covers each item of the body by itself.
    #[must_use]
    pub const fn keyed_by_item(mut self) -> Self {
        self.keyed_by_item = true;
        self
    }

    /// Takes the file of its body also as a form, `multipart/form-data`.
    #[must_use]
    pub const fn takes_form(mut self) -> Self {
        self.takes_form = true;
        self
    }

    /// Takes bodies of up to so many bytes, and refuses larger ones with this code.
    #[must_use]
    pub const fn holds(mut self, bytes: usize, too_large: Code) -> Self {
        self.largest = bytes;
        self.too_large = too_large;
        self
    }

    /// Returns the schemas of the bodies of its answers of success, by rising status.
    pub fn bodies(&self, generator: &mut SchemaGenerator) -> Vec<Schema> {
        match self.public {
            Some(handler) => handler.bodies(generator),
            None => self.handler.bodies(generator),
        }
    }

    /// The names of the path's parameters, in order.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|step| step.strip_prefix('{')?.strip_suffix('}'))
    }
}
