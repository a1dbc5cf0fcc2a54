//! Sends a request, follows redirects, and distinguishes a request that was not sent from an answer that was lost.

use http::Method;
use tokio::time::{Duration, Instant, timeout_at};

use crate::{
    Download, Error, ErrorKind, Reply, Request,
    body::{RequestBody, RequestGuard},
    error, opened,
    piece::BodyPart,
    redirect,
};

/// Replaces a deadline that is too far away to be represented.
const NO_DEADLINE: Duration = Duration::from_secs(24 * 60 * 60);

impl Request {
    /// Sends the request and reads the whole response, whatever its status.
    ///
    /// # Errors
    /// All kinds except [`ErrorKind::InvalidJson`]. [`Error::maybe_sent`] tells whether the server may have acted.
    pub async fn send(self) -> Result<Reply, Error> {
        self.open().await?.into_reply().await
    }

    /// Sends the request and reads the head of the response. The body is a stream with the same deadline and size
    /// limit.
    ///
    /// # Errors
    /// As for [`Request::send`].
    pub async fn open(self) -> Result<Download, Error> {
        let method = self.method.clone();
        let host = self.url.host_str().unwrap_or_default().to_owned();
        let (started, peer) = (Instant::now(), self.client.peer());
        let result = self.send_following_redirects().await;
        let took = started.elapsed();
        fanfare_metrics::record::outbound_request(peer, outcome(&result), took);
        let ms = took.as_millis();
        match &result {
            Ok(answer) => {
                tracing::debug!(%method, host, status = answer.status, ms, "request answered")
            }
            Err(error) => tracing::debug!(%method, host, kind = ?error.kind, ms, "request failed"),
        }
        result
    }

    async fn send_following_redirects(mut self) -> Result<Download, Error> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let now = Instant::now();
        let until = now.checked_add(self.deadline).unwrap_or(now + NO_DEADLINE);
        let repeatable = matches!(self.method, Method::GET | Method::HEAD);
        let mut hops = if repeatable { self.redirects } else { 0 };
        let mut trusted = self.client.trusts(&self.url);
        loop {
            let (response, leash) = self.exchange(trusted, until).await?;
            self.client.server_clock().note(response.headers());
            let next = redirect::target(response.status(), response.headers(), &self.url);
            let (Some(next), Some(left)) = (next, hops.checked_sub(1)) else {
                let whence = (&self.method, self.url);
                return Download::begin((response, leash), whence, until, self.max_reply);
            };
            hops = left;
            if next.origin() != self.url.origin() {
                trusted = false;
                self.headers = redirect::without_credentials(self.headers);
                self.payload.clear();
            }
            self.url = next;
        }
    }

    /// Takes the body. Parts that can be sent again are kept for a redirect.
    fn take_body(&mut self) -> Vec<BodyPart> {
        let again = self.payload.iter().filter_map(BodyPart::try_clone).collect();
        std::mem::replace(&mut self.payload, again)
    }

    /// Sends one request to the current address. A server may close an idle connection just when it is used again, so a
    /// GET
    /// or HEAD request that fails this way is sent once more on a new connection.
    async fn exchange(
        &mut self,
        trusted: bool,
        until: Instant,
    ) -> Result<(reqwest::Response, RequestGuard), Error> {
        self.client.check_address(&self.url, trusted)?;
        let client = self.client.clone();
        let harmless = matches!(self.method, Method::GET | Method::HEAD) && self.payload.is_empty();
        let pool = if self.fresh {
            client.unpooled_client(trusted)
        } else {
            client.pooled_client(trusted)
        };
        match self.attempt(pool, until).await {
            Err(FailedAttempt { closed: true, .. }) if harmless => {
                let again = self.attempt(client.unpooled_client(trusted), until).await;
                again.map_err(|broken| broken.error)
            }
            other => other.map_err(|broken| broken.error),
        }
    }

    async fn attempt(
        &mut self,
        over: &reqwest::Client,
        until: Instant,
    ) -> Result<(reqwest::Response, RequestGuard), FailedAttempt> {
        let announce = matches!(self.method, Method::POST | Method::PUT | Method::PATCH);
        let (body, leash) = RequestBody::new(self.take_body(), announce);
        let mut request = reqwest::Request::new(self.method.clone(), self.url.clone());
        *request.headers_mut() = self.headers.clone();
        // A wrapped body cannot be cloned, so the HTTP library cannot send it twice.
        *request.body_mut() = Some(reqwest::Body::wrap(body));
        let sending = timeout_at(until, over.execute(request));
        let (answer, opened) = opened::watch(sending).await;
        match answer {
            Ok(Ok(response)) => Ok((response, leash)),
            Ok(Err(cause)) => Err(FailedAttempt {
                error: Error::from_transport(&self.url, leash.withdraw(), &cause),
                closed: !opened && error::is_closed(&cause),
            }),
            Err(_) => {
                let kind = if leash.withdraw() { ErrorKind::NotSent } else { ErrorKind::Lost };
                let error = Error::new(kind, &self.url, "the deadline passed");
                Err(FailedAttempt { error, closed: false })
            }
        }
    }
}

/// A request that got no response.
struct FailedAttempt {
    error: Error,
    /// True if the connection had been used before and was closed before a response arrived.
    closed: bool,
}

/// Returns the label of the outcome for the metrics.
const fn outcome(result: &Result<Download, Error>) -> &'static str {
    match result {
        Ok(answer) => match answer.status / 100 {
            1 => "1xx",
            2 => "2xx",
            3 => "3xx",
            4 => "4xx",
            _ => "5xx",
        },
        Err(error) => match error.kind {
            ErrorKind::Invalid | ErrorKind::Blocked => "refused",
            ErrorKind::NotSent => "not_sent",
            ErrorKind::Lost | ErrorKind::TooLarge | ErrorKind::InvalidJson => "lost",
        },
    }
}
