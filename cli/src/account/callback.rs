//! The address on this machine to which a browser brings the answer (RFC 8252 section 7.3).

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

/// The answer that a browser brought, and the way back to it.
pub struct Answer {
    /// The parameters of the address.
    pub fields: BTreeMap<String, String>,
    shown: oneshot::Sender<Page>,
}

/// The page that the person sees in the end.
pub struct Page {
    status: StatusCode,
    text: &'static str,
}

impl Page {
    /// The person is logged in.
    pub const DONE: Self = Self {
        status: StatusCode::OK,
        text: "You are logged in. You can close this page and go back to the command line.",
    };
    /// The person said no.
    pub const DENIED: Self = Self {
        status: StatusCode::OK,
        text: "The command line was not let in. You can close this page.",
    };
    /// It did not work.
    pub const FAILED: Self = Self {
        status: StatusCode::BAD_GATEWAY,
        text: "This did not work; the command line says why. You can close this page.",
    };
    /// An answer of another caller, or an old one.
    pub const FOREIGN: Self = Self {
        status: StatusCode::BAD_REQUEST,
        text: "This is no answer to the log-in that runs now. Open the address that the command line shows.",
    };
    const NOWHERE: Self = Self { status: StatusCode::NOT_FOUND, text: "There is nothing here." };

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
            // The code must not go on to another place.
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
        ] {
            headers.insert(name, header::HeaderValue::from_static(value));
        }
        reply
    }
}

impl Answer {
    /// Returns a parameter, or nothing at all.
    pub fn text(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// Shows the person a page.
    pub fn show(self, page: Page) {
        // A browser that went away needs none.
        let _ = self.shown.send(page);
    }
}

/// Listens on this machine alone.
pub struct Callback {
    listener: TcpListener,
    port: u16,
    answers: mpsc::Receiver<Answer>,
    heard: mpsc::Sender<Answer>,
    open: JoinSet<()>,
}

impl Callback {
    /// Opens a port that nobody else has.
    ///
    /// # Errors
    /// This machine has none.
    pub async fn open() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.context("no port is free")?;
        let port = listener.local_addr()?.port();
        let (heard, answers) = mpsc::channel(8);
        Ok(Self { listener, port, answers, heard, open: JoinSet::new() })
    }

    /// Returns the address that the service must send the person to.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the next answer.
    ///
    /// # Errors
    /// The port is gone.
    pub async fn next(&mut self) -> Result<Answer> {
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
                        // A browser that breaks off is told nothing, and comes again.
                        let _ = http.serve_connection(TokioIo::new(stream), served).await;
                    });
                }
            }
        }
    }

    /// Closes the port, once what was answered is on its way.
    pub async fn close(self) {
        let Self { listener, mut open, .. } = self;
        drop(listener);
        let all = async { while open.join_next().await.is_some() {} };
        // A connection that a browser opened ahead of need says nothing and is not waited for.
        let _ = tokio::time::timeout(std::time::Duration::from_secs(2), all).await;
    }
}

async fn serve(
    request: Request<Incoming>,
    heard: mpsc::Sender<Answer>,
) -> Result<Response<String>, Infallible> {
    if request.method() != Method::GET || request.uri().path() != PATH {
        return Ok(Page::NOWHERE.reply());
    }
    let query = request.uri().query().unwrap_or_default();
    let fields = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let (shown, page) = oneshot::channel();
    let page = match heard.send(Answer { fields, shown }).await {
        Ok(()) => page.await.unwrap_or(Page::FAILED),
        Err(_) => Page::FAILED,
    };
    Ok(page.reply())
}
