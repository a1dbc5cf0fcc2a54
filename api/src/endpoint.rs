//! The pipeline of every request of `/api/v1`, in this order: API key, rate limits, scope, parsing of the body, stored
//! reply of the same request, workspace, add-on, plan, role, idempotency key, validation of query and body, handler.
//!
//! An error reveals no more than the steps before it allow: a caller without the scope does not learn whether a post
//! exists, and a caller without the role does not learn which fields are wrong.

mod admission;
mod public;
mod refusal_context;

use std::collections::HashMap;

use fanfare_core::{
    Act, Code, Domain, Error, RefusalDetails, Reply, Result, WorkspaceId,
    access::{self, Caller, Membership, Role, plan_name},
    db,
    error::{Violations, excerpt, violation},
    idempotency::{self, Owner, Reservation, ReserveOutcome},
    limits::Meter,
    offload,
    remedies::{self, RequestContext, Rights},
};
use fanfare_publishing::{accounts::by_name, posts};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, async_trait};
use serde_json::{Value, json};

use crate::{
    Bucket, Call, Policy, Route,
    body::{self, RequestBody},
    detached_task, keys,
    middleware::request::LogFields,
    multipart, oauth, older_names,
    progress::Progress,
    query::{self, Pairs, Parameters},
    reply, request_id,
    workspace_scope::RequestParts,
};

use admission::Admission;
pub use public::PublicCall;
use refusal_context::RefusalContext;

/// Serves one route.
pub struct Endpoint {
    route: &'static Route,
    domain: Domain,
    parameters: Parameters,
}

#[async_trait]
impl Handler for Endpoint {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        self.respond(req, res).await;
    }
}

/// The caller of a request inside another one, such as an MCP tool call: the outer request has been authenticated.
#[derive(Debug, Clone)]
pub struct Admitted(pub Caller);

/// The caller of a request, for its refusal.
#[derive(Debug, Clone)]
struct KnownCaller(Caller);

/// A request that repeats one that was counted, because its reply was too large.
#[derive(Debug, Clone, Copy)]
pub struct CountedBefore;

/// A request that is parsed and authorized, but not validated yet.
struct ParsedRequest {
    path: HashMap<String, String>,
    query: Pairs,
    body: Option<Value>,
    idempotency_key: Option<String>,
    if_match: Option<i64>,
    fingerprint: String,
    meter: Meter,
    refused: RefusalContext,
    progress: Progress,
}

impl Endpoint {
    /// Returns the endpoint of a route.
    #[must_use]
    pub fn new(route: &'static Route, domain: Domain) -> Self {
        Self { route, domain, parameters: Parameters::of(route.query) }
    }

    /// Returns the route.
    #[must_use]
    pub const fn route(&self) -> &'static Route {
        self.route
    }

    /// Answers a request, also one inside another (see [`Admitted`]).
    pub async fn respond(&self, req: &mut Request, res: &mut Response) {
        let request_id = request_id::get(req);
        let settings = &self.domain.settings;
        match self.answer(req, &request_id).await {
            Ok(answer) => {
                let version = self.route.versioned.and_then(|of| reply::version(&answer, of));
                reply::write(res, answer, &request_id, &settings.base_url);
                reply::set_version(res, version);
            }
            Err(error) => {
                let base_url = oauth::requested_origin(settings, req);
                let situation = RequestContext {
                    base_url: base_url.clone(),
                    rights: self.rights(req, &error).await,
                    ..RequestContext::default()
                };
                let error = remedies::add_remedies(error, &situation);
                reply::write(res, reply::refusal(&error), &request_id, &base_url);
                if let Some(scope) = oauth::missing_scope(req) {
                    oauth::challenge_scope(res, &base_url, "", scope);
                }
            }
        }
    }

    /// Returns the reply to a request.
    ///
    /// # Errors
    /// The error of a step of the pipeline, or the handler's.
    pub async fn answer(&self, req: &mut Request, request_id: &str) -> Result<Reply> {
        if let Some(handler) = self.route.public {
            return self.answer_public(req, handler).await;
        }
        let cx = &self.domain;
        let seen = LogFields::set_route(req, self.route.path);
        let caller = match req.extensions_mut().remove::<Admitted>() {
            Some(Admitted(caller)) => caller,
            None => keys::caller(cx, req.headers(), req.uri().path()).await?,
        };
        seen.set_key(req, &caller);
        req.extensions_mut().insert(KnownCaller(caller.clone()));
        let meter = crate::middleware::rate_limit::meter(req);
        let mut admission = if req.extensions_mut().remove::<CountedBefore>().is_some() {
            Admission::counted_before(cx, &caller, &meter)
        } else {
            let has_key =
                self.route.method.writes() && req.headers().contains_key("idempotency-key");
            Admission::begin(cx, &caller, (self.bucket(&caller), has_key), &meter).await?
        };
        let outcome = self.answer_admitted(req, request_id, caller, (meter, &mut admission)).await;
        admission.end(&outcome).await;
        outcome
    }

    /// Returns the reply to a request of a known caller.
    async fn answer_admitted(
        &self,
        req: &mut Request,
        request_id: &str,
        caller: Caller,
        (meter, admission): (Meter, &mut Admission),
    ) -> Result<Reply> {
        let (cx, policy) = (&self.domain, &self.route.policy);
        keys::require_key(&caller, policy.allows_tokens)?;
        keys::require_reach(&caller, policy.belongs_to)?;
        oauth::require_scope(req, &caller, policy.missing_scope(&caller.scopes))?;
        let mut body = self.body(req).await?;
        let idempotency_key = if self.route.method.writes() {
            keys::idempotency_key(req.headers())
        } else {
            Ok(None)
        };
        let fingerprint = self.fingerprint(req, &idempotency_key, &mut body).await?;
        if let Some(reply) =
            self.stored_reply(&caller, &idempotency_key, &fingerprint, &body).await?
        {
            admission.count_replay().await?;
            return Ok(reply);
        }
        let mut path: HashMap<String, String> =
            req.params().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut query = query::pairs(req.uri().query())?;
        let renamed =
            older_names::modernize(self.route, &mut path, &mut query, body.value.as_mut());
        if self.all_items_are_stored(&caller, &idempotency_key, body.value.as_ref()).await? {
            admission.count_replay().await?;
        } else {
            admission.count_request(body.value.as_ref()).await?;
        }
        if self.route.name == "create_post" {
            self.find_named_account(&caller, body.value.as_mut()).await?;
        }
        let said = RequestParts { path: &path, query: &query, body: body.value.as_ref() };
        let membership = policy.workspace.membership(cx, &caller, &said).await?;
        require_subscription(self.route, &caller, &membership)?;
        membership.require(role(policy, body.value.as_ref()))?;
        renamed?;
        let idempotency_key = idempotency_key?;
        let if_match = match self.route.takes_if_match() {
            true => keys::if_match(req.headers())?,
            false => None,
        };
        if let Some(refusal) = body.refusal {
            return Err(refusal);
        }
        let refused = RefusalContext::new(
            self.route,
            req.uri().path(),
            &path,
            (&caller, &membership),
            body.raw,
        );
        let body = body.value;
        let progress = progress(req);
        let asked = ParsedRequest {
            path,
            query,
            body,
            idempotency_key,
            if_match,
            fingerprint,
            meter,
            refused,
            progress,
        };
        self.carry_out(caller, membership, request_id, asked).await
    }

    /// Returns what the caller of a refused request may do where no workspace is named. It is looked for only if the
    /// refusal leads on.
    async fn rights(&self, req: &mut Request, error: &Error) -> Option<Rights> {
        let KnownCaller(caller) = req.extensions_mut().remove()?;
        let broken = error.violations().iter().filter_map(|one| Code::named(one.code));
        let leads_on = |code: Code| !remedies::next_steps(code).is_empty();
        let membership = match broken.chain([error.code()]).any(leads_on) {
            true => access::membership(&self.domain, &caller, None).await.ok(),
            false => None,
        };
        Some(Rights::new(&caller, membership.as_ref()))
    }

    /// Returns the rate limit that a request counts against. Reads of the dashboard's pages count as plain requests,
    /// since one page makes several.
    fn bucket(&self, caller: &Caller) -> Bucket {
        let reads = !self.route.method.writes();
        if reads && caller.is_browser_session() { Bucket::Other } else { self.route.bucket }
    }

    /// Replaces an account's name by its `account_id`; the account is searched in the workspace of the request.
    async fn find_named_account(&self, caller: &Caller, body: Option<&mut Value>) -> Result<()> {
        let fields = body.and_then(Value::as_object_mut);
        let Some(fields) = fields.filter(|fields| by_name::has_username(fields)) else {
            return Ok(());
        };
        let asked = fields.get("workspace_id").and_then(Value::as_str);
        let asked = asked.and_then(|id| id.parse().ok()).map(WorkspaceId);
        let membership = access::membership(&self.domain, caller, asked).await?;
        by_name::resolve_account_id(&self.domain, &membership, fields).await
    }

    /// Reads the body, if the route can have one.
    async fn body(&self, req: &mut Request) -> Result<RequestBody> {
        if !self.route.method.writes() {
            return Ok(RequestBody::default());
        }
        let (most, too_large) = (self.route.max_body, self.route.too_large);
        if self.route.takes_form && multipart::is_multipart(req.headers()) {
            return multipart::read(req, most, too_large).await;
        }
        body::read(req, most, too_large).await
    }

    /// Returns the fingerprint that a repeated request must share with the first one; empty without a key.
    async fn fingerprint(
        &self,
        req: &Request,
        key: &Result<Option<String>>,
        body: &mut RequestBody,
    ) -> Result<String> {
        if !matches!(key, Ok(Some(_))) {
            return Ok(String::new());
        }
        let path = req.uri().path_and_query().map_or("", |path| path.as_str()).to_owned();
        let (method, value) = (self.route.method.as_str(), body.value.take());
        let hash = move || (idempotency::fingerprint(method, &path, value.as_ref()), value);
        let print;
        (print, body.value) = offload(body.raw.len(), hash).await?;
        Ok(print)
    }

    /// Returns true if an earlier request with this key made all items of the body.
    async fn all_items_are_stored(
        &self,
        caller: &Caller,
        key: &Result<Option<String>>,
        body: Option<&Value>,
    ) -> Result<bool> {
        let (true, Ok(Some(key)), Some(body)) = (self.route.keyed_by_item, key, body) else {
            return Ok(false);
        };
        let items = posts::item_requests(key, body);
        Ok(!items.is_empty() && idempotency::are_stored(&self.domain, caller, &items).await?)
    }

    /// Returns the stored reply to the same request, even if its resources have changed since.
    async fn stored_reply(
        &self,
        caller: &Caller,
        key: &Result<Option<String>>,
        fingerprint: &str,
        body: &RequestBody,
    ) -> Result<Option<Reply>> {
        match key {
            Ok(Some(key)) if !self.route.keyed_by_item && body.refusal.is_none() => {
                idempotency::stored_reply(&self.domain, caller, key, fingerprint).await
            }
            _ => Ok(None),
        }
    }

    async fn carry_out(
        &self,
        caller: Caller,
        membership: Membership,
        request_id: &str,
        mut asked: ParsedRequest,
    ) -> Result<Reply> {
        let (cx, handler) = (self.domain.clone(), self.route.handler);
        let mut reservation: Option<Reservation> = None;
        if let Some(key) = asked.idempotency_key.as_deref().filter(|_| !self.route.keyed_by_item) {
            let owner = Owner::of(caller.user_id, membership.workspace_id);
            match idempotency::reserve(&cx, owner, key, &asked.fingerprint).await? {
                ReserveOutcome::Replay(reply) => return Ok(reply),
                ReserveOutcome::Acquired(mine) => reservation = Some(mine),
            }
        }
        let query = self.parameters.read(std::mem::take(&mut asked.query));
        let body = self.body_object(asked.body.take());
        let request_id = request_id.to_owned();
        let (held, meter) = (reservation.clone(), asked.meter);
        let act = Act {
            cx: cx.clone(),
            caller,
            membership,
            request_id,
            reservation: held,
            meter,
            if_match: asked.if_match,
        };
        let (path, idempotency_key, refused) = (asked.path, asked.idempotency_key, asked.refused);
        let progress = asked.progress;
        progress.report(self.route.summary, None);
        let job = async move {
            let base_url = act.cx.settings.base_url.clone();
            let answer = async {
                let (query, body) = (query?, body?);
                let call = Call { act, idempotency_key, progress, path, query, body };
                db::retry_conflicts(|| handler.answer(call.clone())).await
            };
            match answer.await {
                Ok(reply) => Ok(reply),
                Err(error) => Err(refused.add_remedies(error, base_url).await),
            }
        };
        if self.route.method.writes() {
            detached_task::run(cx, reservation, Box::pin(job)).await
        } else {
            job.await
        }
    }

    /// Returns the body, or an empty object without one. Any field is an error if the route accepts no body.
    fn body_object(&self, body: Option<Value>) -> Result<Value> {
        let body = body.unwrap_or_else(|| json!({}));
        if self.route.body.is_none() {
            let fields = body.as_object().into_iter().flat_map(|fields| fields.keys());
            let mut unknown = Violations::default();
            for field in fields.map(|field| excerpt(field)) {
                unknown.push_with(|| {
                    let message = format!("There is no field {field}: this request has no body.");
                    violation(Code::UnknownField, field, message, "Leave the body out.")
                });
            }
            Error::check(unknown)?;
        }
        Ok(body)
    }
}

/// Returns the progress reporter of the outer request, if it has one.
fn progress(req: &mut Request) -> Progress {
    req.extensions_mut().remove().unwrap_or_default()
}

fn require_subscription(route: &Route, caller: &Caller, membership: &Membership) -> Result<()> {
    let policy = &route.policy;
    if policy.addon && !membership.api_addon && !caller.is_browser_session() {
        let message = "The workspace has no API add-on.";
        return Err(Error::new(Code::ApiAddonRequired, message));
    }
    if policy.addon && route.method.writes() {
        membership.require_active()?;
    }
    let Some(plan) = policy.plan.filter(|plan| membership.plan < *plan) else { return Ok(()) };
    let message = format!("This needs the plan {} or a larger one.", plan_name(plan));
    let required_plan = Some(plan_name(plan));
    Err(Error::new(Code::FeatureNotAvailable, message)
        .with_details(RefusalDetails { required_plan, ..RefusalDetails::default() }))
}

/// Returns the role that the request needs, judged by the names of its fields alone.
fn role(policy: &Policy, body: Option<&Value>) -> Role {
    let touches = |field: &&str| body.is_some_and(|body| body.get(*field).is_some());
    match policy.raised {
        Some(raised) if raised.fields.iter().any(touches) => raised.role,
        _ if policy.drafts.is_some_and(|drafts| drafts.covers(body)) => Role::Editor,
        _ => policy.role,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes;

    #[test]
    fn moving_a_post_needs_a_higher_role_than_wording_it() {
        let edit = routes::ROUTES.iter().find(|route| route.name == "update_post").unwrap();
        let needed = |body: Value| role(&edit.policy, Some(&body));
        assert_eq!(needed(json!({"caption": "x"})), Role::Editor);
        assert_eq!(needed(json!({"caption": "x", "scheduled_at": null})), Role::Publisher);
        assert_eq!(needed(json!({"timezone": "UTC"})), Role::Publisher);
        assert_eq!(role(&edit.policy, None), Role::Editor);
    }

    #[test]
    fn editors_write_drafts_and_publishers_everything() {
        let create = routes::ROUTES.iter().find(|route| route.name == "create_post").unwrap();
        let needed = |body: Value| role(&create.policy, Some(&body));
        assert_eq!(needed(json!({"caption": "x", "status": "draft"})), Role::Editor);
        for body in [
            json!({"caption": "x"}),
            json!({"status": "scheduled"}),
            json!({"status": ["draft"]}),
            json!({"status": "draft", "scheduled_at": "2030-01-01T00:00:00Z"}),
        ] {
            assert_eq!(needed(body.clone()), Role::Publisher, "{body}");
        }
    }
}
