//! The loopback server that receives the redirect of the browser (RFC 8252 section 7.3).

use std::{collections::BTreeMap, convert::Infallible};

use anyhow::{Context as _, Result};
use hyper::{
    Method, Request, Response, StatusCode, body::Incoming, header, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot},
    task::JoinSet,
};
use url::form_urlencoded;

const PATH: &str = "/callback";

/// The authorization response that a browser brought, and the channel for its page.
pub struct CallbackAnswer {
    /// The query parameters.
    pub fields: BTreeMap<String, String>,
    shown: oneshot::Sender<ResultPage>,
}

/// The page that the user sees in the end.
pub struct ResultPage {
    status: StatusCode,
    text: &'static str,
}

impl ResultPage {
    /// The user is logged in.
    pub const DONE: Self = Self {
        status: StatusCode::OK,
        text: "You are logged in. You can close this page and go back to the command line.",
    };
    /// The user denied access.
    pub const DENIED: Self = Self {
        status: StatusCode::OK,
        text: "The command line was not let in. You can close this page.",
    };
    /// The log-in failed.
    pub const FAILED: Self = Self {
        status: StatusCode::BAD_GATEWAY,
        text: "This did not work; the command line says why. You can close this page.",
    };
    /// A response of another attempt, or an old one.
    pub const UNRELATED: Self = Self {
        status: StatusCode::BAD_REQUEST,
        text: "This is no answer to the log-in that runs now. Open the address that the command line shows.",
    };
    const NOT_FOUND: Self = Self { status: StatusCode::NOT_FOUND, text: "There is nothing here." };

    fn reply(&self) -> Response<String> {
        let body = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Fanfare</title>\
             <meta name=\"viewport\" content=\"width=device-width\"><p>{}</p></html>\n",
            self.text
        );
        let mut reply = Response::new(body);
        *reply.status_mut() = self.status;
        let headers = reply.headers_mut();
        for (name, value) in [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::CACHE_CONTROL, "no-store"),
            // The code must not leak to another site.
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
        ] {
            headers.insert(name, header::HeaderValue::from_static(value));
        }
        reply
    }
}

impl CallbackAnswer {
    /// Returns a parameter; empty if there is none.
    pub fn text(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// Shows the user a page.
    pub fn show(self, page: ResultPage) {
        // A browser that has disconnected needs none.
        let _ = self.shown.send(page);
    }
}

/// The server, which listens on loopback only.
pub struct Callback {
    listener: TcpListener,
    port: u16,
    answers: mpsc::Receiver<CallbackAnswer>,
    heard: mpsc::Sender<CallbackAnswer>,
    open: JoinSet<()>,
}

impl Callback {
    /// Opens a free port.
    ///
    /// # Errors
    /// There is none.
    pub async fn open() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port is free")?;
        let port = listener.local_addr()?.port();
        let (heard, answers) = mpsc::channel(8);
        Ok(Self { listener, port, answers, heard, open: JoinSet::new() })
    }

    /// Returns the redirect URI.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the next authorization response.
    ///
    /// # Errors
    /// The port is gone.
    pub async fn next(&mut self) -> Result<CallbackAnswer> {
        loop {
            tokio::select! {
                answer = self.answers.recv() => {
                    return answer.context("nobody listens any more");
                }
                met = self.listener.accept() => {
                    let (stream, _) = met?;
                    let heard = self.heard.clone();
                    self.open.spawn(async move {
                        let served = service_fn(move |request| serve(request, heard.clone()));
                        let mut http = http1::Builder::new();
                        http.keep_alive(false);
                        // A connection that breaks off is ignored; the browser tries again.
                        let _ = http.serve_connection(TokioIo::new(stream), served).await;
                    });
                }
            }
        }
    }

    /// Closes the port, once pending responses are sent.
    pub async fn close(self) {
        let Self { listener, mut open, .. } = self;
        drop(listener);
        let all = async { while open.join_next().await.is_some() {} };
        // Speculative connections of the browser are idle and are not waited for.
        let _ = tokio::time::timeout(std::time::Duration::from_secs(2), all).await;
    }
}

async fn serve(
    request: Request<Incoming>,
    heard: mpsc::Sender<CallbackAnswer>,
) -> Result<Response<String>, Infallible> {
    if request.method() != Method::GET || request.uri().path() != PATH {
        return Ok(ResultPage::NOT_FOUND.reply());
    }
    let query = request.uri().query().unwrap_or_default();
    let fields = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let (shown, page) = oneshot::channel();
    let page = match heard.send(CallbackAnswer { fields, shown }).await {
        Ok(()) => page.await.unwrap_or(ResultPage::FAILED),
        Err(_) => ResultPage::FAILED,
    };
    Ok(page.reply())
}
