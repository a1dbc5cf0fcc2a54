//! Handles the requests of a network: reads the request, finds its route, its account and its fault, and logs the call.

use std::sync::Arc;
use std::time::Duration;

use salvo::conn::ConnCtrl;
use salvo::http::header::{DATE, HeaderValue};
use salvo::http::{Method, Response};

use crate::behaviour;
use crate::broken_reply;
use crate::call::{Call, ReadError};
use crate::env::utc;
use crate::facts::{self, Objection};
use crate::faults::{Fault, FaultKind, Phase};
use crate::network::{Cx, HandlerFn, Network, Refusal, Route};
use crate::page;
use crate::reply::Reply;
use crate::root_handler::{NetworkRequest, RequestAccess};
use crate::sim::{Account, LoggedCall, Sim};

/// The wait of a 429 when the fault does not set one, in milliseconds.
const RETRY_MS: u64 = 1_000;
/// The response of `nonsense` when the fault sets none.
const NONSENSE: &str = "<!doctype html><title>Welcome</title><p>This page is being served by a machine that knows no API.";

/// The handler of all requests below `/{network}/`.
pub(crate) struct NetworkHandler<N: Network>(pub Arc<Sim<N>>);

/// The outcome of a call.
enum Outcome {
    Send(Reply),
    /// Close the connection after this many bytes of the body.
    Cut(Reply, u64),
    Flood,
}

impl<N: Network> NetworkHandler<N> {
    /// Answers a request.
    pub async fn serve(
        &self,
        incoming: NetworkRequest<'_>,
        connection: &ConnCtrl,
        res: &mut Response,
    ) {
        let reach = incoming.access;
        match incoming.read(N::BODY_MAX).await {
            Ok(call) => self.answer(call, reach, connection, res).await,
            Err(ReadError::TooLarge) => self.refuse(413).write(res),
            Err(ReadError::Broken) => self.refuse(400).write(res),
        }
    }

    fn refuse(&self, status: u16) -> Reply {
        N::refuse(Refusal { status, retry_ms: RETRY_MS, now_ms: self.0.now_ms() })
    }

    async fn answer(
        &self,
        call: Call,
        reach: RequestAccess,
        connection: &ConnCtrl,
        res: &mut Response,
    ) {
        let segments = call.segments();
        if let Some(page) = self.page(&call, &segments).filter(|_| reach.pages) {
            return page.write(res);
        }
        let route = N::route(&call.method, &segments, &call);
        let is_reached =
            |route: &Route<N>| if route.is_page { reach.pages } else { reach.programs };
        let Some(route) = route.filter(is_reached) else {
            return N::no_route(&call).write(res);
        };
        drop(segments);
        let account = N::caller(&self.0, &call);
        let mut call = call;
        let described = described(&self.0, &mut call, account.as_deref(), &route);
        let (method, path) = (method_name(&call.method), redacted_path::<N>(&call.path));
        let cx = Arc::new(Cx { sim: Arc::clone(&self.0), call, account });
        let phase = route.phase;
        let mut outcome = match described {
            Ok(described) => run_permitted(&cx, route, described).await,
            Err(refusal) => Outcome::Send(refusal),
        };
        // Do not report a change that would be lost if the process were killed.
        if self.0.env.journal.synced().await.is_err() {
            outcome = Outcome::Send(self.refuse(500));
        }
        if let Some(account) = &cx.account {
            let status = match &outcome {
                Outcome::Send(reply) => Some(reply.status.as_u16()),
                Outcome::Flood => Some(200),
                Outcome::Cut(..) => None,
            };
            account.log(LoggedCall { method, path, phase, status, at_ms: cx.now_ms() });
        }
        set_date(cx.now_ms(), res);
        match outcome {
            Outcome::Send(reply) => reply.write(res),
            Outcome::Cut(reply, bytes) => broken_reply::close_after(connection, &reply, bytes, res),
            Outcome::Flood => broken_reply::flood(res),
        }
    }

    fn page(&self, call: &Call, path: &[&str]) -> Option<Reply> {
        if call.method != Method::GET {
            return None;
        }
        match path {
            ["ui"] => Some(match call.query_value("account") {
                Some(account) => page::account(&self.0, &account),
                None => page::network(&self.0),
            }),
            ["ui", account] => Some(page::account(&self.0, account)),
            ["ui", account, "picture.png"] => Some(page::picture(&self.0, account)),
            ["ui", account, post] => Some(page::post(&self.0, account, post)),
            _ => {
                let (account, post) = N::page(path)?;
                let account = self.0.find(account)?;
                Some(page::post(&self.0, &account.identity.remote_id, post))
            }
        }
    }
}

/// The network's description of a request.
#[derive(Default)]
struct Described {
    /// The number of its operation; `None` for pages for people, which are not described.
    operation: Option<usize>,
    /// The permissions that its account's user did not give.
    lacking: Option<Vec<String>>,
}

/// Finds a request in the network's description; `Err` is the refusal of one that it does not allow, or that the
/// account's network answers in its own way.
fn described<N: Network>(
    sim: &Sim<N>,
    call: &mut Call,
    account: Option<&Account<N>>,
    route: &Route<N>,
) -> Result<Described, Reply> {
    let mut found = Described::default();
    if let Some(facts) = facts::of(N::NAME).filter(|_| !route.is_page) {
        let (number, operation) = facts.operation(call).ok_or_else(|| N::no_route(call))?;
        if let Some(objection) = facts.objection((number, operation), call) {
            return Err(N::objection(&objection));
        }
        let permissions = account.and_then(Account::permissions);
        found.lacking = permissions.and_then(|given| operation.lacking(&given));
        found.operation = Some(number);
    }
    if let Some(account) = account {
        let now_ms = sim.now_ms() + account.behaviour().clock_ms;
        behaviour::before(sim, account, route.phase, found.name::<N>(), call, now_ms)?;
    }
    Ok(found)
}

impl Described {
    /// Returns the name of the operation.
    fn name<N: Network>(&self) -> &'static str {
        let number = self.operation.and_then(|number| Some(facts::of(N::NAME)?.name(number)));
        number.unwrap_or_default()
    }
}

/// Runs a request that the description allows, if its account's user gave the permissions for it. An invalid token is
/// refused first, so a read, which changes nothing, is tried before.
async fn run_permitted<N: Network>(
    cx: &Arc<Cx<N>>,
    route: Route<N>,
    described: Described,
) -> Outcome {
    let refused =
        described.lacking.clone().map(|names| N::objection(&Objection::Permission(names)));
    match refused {
        Some(refused) if !matches!(route.phase, Phase::Read) => return Outcome::Send(refused),
        _ => {}
    }
    let name = described.name::<N>();
    match run_with_fault(cx, route.phase, route.handler).await {
        Outcome::Send(reply) => {
            let reply = match refused {
                Some(refused) if reply.status.is_success() => refused,
                _ => as_described::<N>(described.operation, reply),
            };
            let reply = behaviour::after(cx, route.phase, name, reply);
            Outcome::Send(behaviour::prefaced(cx, reply))
        }
        other => other,
    }
}

/// Returns the reply. While we test, one that the network's description does not allow becomes an error.
fn as_described<N: Network>(operation: Option<usize>, reply: Reply) -> Reply {
    if !cfg!(debug_assertions) {
        return reply;
    }
    let found = operation
        .and_then(|number| facts::of(N::NAME)?.stray(number, reply.status.as_u16(), &reply.body));
    match found {
        Some(why) => Reply::raw(500, format!("The simulator's answer is not as described: {why}")),
        None => reply,
    }
}

/// Sets the header that shows the network's clock.
fn set_date(now_ms: i64, res: &mut Response) {
    let date = utc(now_ms).format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    if let Ok(date) = HeaderValue::from_str(&date) {
        res.headers_mut().insert(DATE, date);
    }
}

/// Runs the handler of a route, with the account's next fault.
async fn run_with_fault<N: Network>(cx: &Arc<Cx<N>>, phase: Phase, work: HandlerFn<N>) -> Outcome {
    let fault = cx.account.as_ref().and_then(|account| account.take_fault(phase));
    let Some(fault) = fault else {
        return Outcome::Send(run(cx, work).await);
    };
    let bytes = fault.at_byte.unwrap_or(0);
    match fault.kind {
        FaultKind::Status => Outcome::Send(refusal(cx, &fault)),
        // The part of a response that a proxy sends before the connection breaks.
        FaultKind::Reset => Outcome::Cut(Reply::raw(200, " ".repeat(4_096)), bytes),
        FaultKind::Hang => {
            wait(cx, fault.hang()).await;
            Outcome::Cut(Reply::empty(200), 0)
        }
        FaultKind::TokenExpired => {
            if let Some(account) = &cx.account {
                cx.sim.expire(account, true);
            }
            Outcome::Send(run(cx, work).await)
        }
        FaultKind::DropAfterChange => Outcome::Cut(run(cx, work).await, bytes),
        FaultKind::ErrorAfterChange => {
            run(cx, work).await;
            Outcome::Send(refusal(cx, &fault))
        }
        FaultKind::Nonsense => {
            run(cx, work).await;
            Outcome::Send(match fault.body {
                Some(body) => Reply::raw(200, body),
                None => Reply::html(200, NONSENSE.to_owned()),
            })
        }
        FaultKind::Huge => {
            run(cx, work).await;
            Outcome::Flood
        }
        FaultKind::Delay => {
            let reply = run(cx, work).await;
            wait(cx, Duration::from_millis(fault.ms.unwrap_or(0))).await;
            Outcome::Send(reply)
        }
    }
}

async fn run<N: Network>(cx: &Arc<Cx<N>>, work: HandlerFn<N>) -> Reply {
    let answer = match work {
        HandlerFn::Immediate(work) => work(cx),
        HandlerFn::Spawned(work) => match tokio::spawn(work(Arc::clone(cx))).await {
            Ok(answer) => answer,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        },
    };
    answer.unwrap_or_else(|refusal| refusal)
}

fn refusal<N: Network>(cx: &Cx<N>, fault: &Fault) -> Reply {
    let status = fault.status.unwrap_or(500);
    match &fault.body {
        Some(body) => Reply::raw(status, body.clone()),
        None => N::refuse(Refusal {
            status,
            retry_ms: fault.ms.unwrap_or(RETRY_MS),
            now_ms: cx.now_ms(),
        }),
    }
}

/// Waits, but ends when the server stops.
async fn wait<N: Network>(cx: &Cx<N>, time: Duration) {
    tokio::select! {
        () = tokio::time::sleep(time) => {}
        () = cx.sim.env.closing.cancelled() => {}
    }
}

fn redacted_path<N: Network>(path: &str) -> String {
    match N::secret_in_path(path) {
        Some(secret) if !secret.is_empty() => format!("/{}", path.replace(secret, "[redacted]")),
        _ => format!("/{path}"),
    }
}

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "OTHER",
    }
}
