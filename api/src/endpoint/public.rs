//! Routes that need no key. They know only the caller's IP address; an `Authorization` header is ignored.

use std::collections::HashMap;

use fanfare_core::{
    Domain, Reply, Result,
    idempotency::{self, Owner, Reservation, ReserveOutcome},
    input::strict,
};
use salvo::Request;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Endpoint, progress, refusal_context::RefusalContext};
use crate::{
    Handler, address, detached_task, keys, middleware::request::LogFields, progress::Progress,
    query,
};

/// A request without a key.
#[derive(Clone)]
pub struct PublicCall {
    /// The domain.
    pub cx: Domain,
    /// The client's IP address, as it is counted.
    pub address: String,
    /// Reports the progress of the call.
    pub progress: Progress,
    path: HashMap<String, String>,
    query: Value,
    body: Value,
}

impl PublicCall {
    /// Returns the body; unknown fields are errors.
    ///
    /// # Errors
    /// All its violations.
    pub fn body<T: DeserializeOwned + JsonSchema + 'static>(&mut self) -> Result<T> {
        strict::read(self.body.take())
    }

    /// Returns the query; unknown parameters are errors.
    ///
    /// # Errors
    /// All its violations.
    pub fn query<T: DeserializeOwned + JsonSchema + 'static>(&mut self) -> Result<T> {
        strict::read(self.query.take())
    }

    /// Returns a parameter of the path, decoded; empty if there is none of this name.
    #[must_use]
    pub fn path(&self, name: &str) -> &str {
        self.path.get(name).map(String::as_str).unwrap_or_default()
    }
}

impl Endpoint {
    /// Answers a request without a key: body, stored reply of its `Idempotency-Key`, handler.
    pub(super) async fn answer_public(
        &self,
        req: &mut Request,
        handler: &'static dyn Handler<PublicCall>,
    ) -> Result<Reply> {
        let cx = self.domain.clone();
        LogFields::set_route(req, self.route.path);
        let address = address::of(req, &cx.settings.trusted_proxies);
        let mut body = self.body(req).await?;
        let writes = self.route.method.writes();
        let key = if writes { keys::idempotency_key(req.headers()) } else { Ok(None) };
        let fingerprint = self.fingerprint(req, &key, &mut body).await?;
        if let Some(refusal) = body.refusal {
            return Err(refusal);
        }
        let mut reservation: Option<Reservation> = None;
        if let Some(key) = key? {
            match idempotency::reserve(&cx, Owner::of_address(&address), &key, &fingerprint).await?
            {
                ReserveOutcome::Replay(reply) => return Ok(reply),
                ReserveOutcome::Acquired(mine) => reservation = Some(mine),
            }
        }
        let query = query::pairs(req.uri().query()).and_then(|sent| self.parameters.read(sent));
        let refused = RefusalContext::public(body.raw);
        let body = self.body_object(body.value);
        let path = req.params().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let progress = progress(req);
        progress.report(self.route.summary, None);
        let call = PublicCall {
            cx: cx.clone(),
            address,
            progress,
            path,
            query: Value::Null,
            body: Value::Null,
        };
        let base_url = cx.settings.base_url.clone();
        let job = async move {
            let answer =
                async { handler.answer(PublicCall { query: query?, body: body?, ..call }).await };
            match answer.await {
                Ok(reply) => Ok(reply),
                Err(error) => Err(refused.add_remedies(error, base_url).await),
            }
        };
        if writes { detached_task::run(cx, reservation, Box::pin(job)).await } else { job.await }
    }
}
