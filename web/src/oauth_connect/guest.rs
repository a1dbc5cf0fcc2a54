//! Connecting without an account of this service: the link that a program makes for its own user, and the pages behind it.
//! Looking at a link changes nothing, so programs that follow links do no harm; its button binds it to this browser.

use fanfare_api::{middleware::request::LogFields, query, request_id, router_ext::RouterExt as _};
use fanfare_core::{ConnectSessionId, Domain, Error, Result, logins::LoginKind};
use fanfare_people::sign_in;
use fanfare_publishing::accounts::oauth_connect::{self, ConnectVisitor, GUEST_STATE, LinkOffer};
use maud::{Markup, html};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, Router, async_trait,
    http::{Method, StatusCode},
};
use secrecy::{ExposeSecret, SecretString};
use uuid::Uuid;

use super::{
    layout,
    session::{self, Connects},
    visit::PageResponse,
};
use crate::{
    browser::{
        form::{self, Cookie, FORM},
        login::LoginRealm,
        response::{html as write_page, protect_secret, redirect},
        typed,
        visit::Visit,
    },
    page::{self, PageRoute, Site, page},
};

/// The lifetime of the cookie, in seconds: that of a link.
const LIFETIME: i64 = 30 * 60;

/// The cookie of the browser that a link was opened in. It is `Lax`, since a network redirects the person back from its own
/// site.
const GUEST: Cookie = Cookie { name: "fanfare_guest", path: "/connect", same_site: "Lax" };

/// The place for people whose browser has not opened the link. Nobody logs in there.
static NO_LOGIN: LoginRealm = LoginRealm {
    path: "/connect/elsewhere",
    session: GUEST,
    form_cookie: Cookie { name: "fanfare_guest_before", path: "/connect", same_site: "Strict" },
    known_cookie: Cookie { name: "fanfare_guest_known", path: "/connect", same_site: "Strict" },
    kind: LoginKind::Persons,
    home: "/",
    other_paths: &[],
    intro: |_, _| html! {},
    frame: layout::bare,
    log_in: |tried| {
        Box::pin(async move {
            let who = (tried.email.as_str(), tried.password.clone());
            sign_in::log_in(&tried.cx, who, tried.source()).await
        })
    },
    lifetime: LIFETIME,
};

/// A browser with the secret of a link. Which links are its own is checked with each of them.
#[derive(Debug, Clone)]
pub struct GuestSession;

impl Connects for GuestSession {
    const PAGES: &'static str = "/connect/guest";

    fn visitor(visit: &Visit<Self>) -> ConnectVisitor<'_> {
        ConnectVisitor::Guest(&visit.token)
    }
}

/// The pages behind a link.
pub struct GuestSite;

const PAGES: &[PageRoute<GuestSite>] = &[
    PageRoute::get("/connect/guest/{id}", page!(session::show)),
    PageRoute::post("/connect/guest/{id}/{verb}", page!(session::act)),
];

const CALLBACK: &[PageRoute<GuestSite>] =
    &[PageRoute::get("/connect/{platform}/callback", page!(session::callback))];

/// Returns the router of the link and of the pages behind it. It comes before that of users' pages.
pub fn router(domain: &Domain) -> Router {
    let link = || LinkPage(domain.clone());
    let callback = Router::new()
        .filter_fn(|req, _| is_guest(req))
        .push(page::pages::<GuestSite>(domain, CALLBACK));
    Router::new()
        .push(Router::with_path("connect/link/{id}/{signature}").get_and_head(link()).post(link()))
        .push(Router::with_path("connect/elsewhere").get_and_head(Elsewhere))
        .push(page::pages::<GuestSite>(domain, PAGES))
        .push(callback)
}

/// Returns true if the network sends somebody back who came from a link.
fn is_guest(req: &Request) -> bool {
    let pairs = query::checked_pairs(req.uri().query().unwrap_or_default().as_bytes());
    let pairs = pairs.unwrap_or_default();
    pairs.iter().any(|(name, value)| name == "state" && value.starts_with(GUEST_STATE))
}

#[async_trait]
impl Site for GuestSite {
    type Session = GuestSession;
    type Answer = PageResponse;

    fn realm() -> &'static LoginRealm {
        &NO_LOGIN
    }

    async fn find(_cx: &Domain, _token: &SecretString) -> Result<Option<GuestSession>> {
        Ok(Some(GuestSession))
    }

    async fn write(res: &mut Response, answer: PageResponse, visit: Visit<GuestSession>) {
        let ok = StatusCode::OK;
        match answer {
            PageResponse::Invalid(title, main, error) => {
                let main = typed::refused(main, &visit.address(), &visit.form, &error);
                write_page(res, page::status(&error), layout::bare(title, main));
            }
            PageResponse::Waiting(title, main) => {
                write_page(res, ok, layout::bare_waiting(title, &main));
            }
            PageResponse::LeaveTo(label, url) => {
                write_page(res, ok, layout::leave_to(None, &label, &url));
            }
            PageResponse::Redirect(place) => redirect(res, &place),
            PageResponse::Page(title, main)
            | PageResponse::Wide(title, main)
            | PageResponse::Following(title, main)
            | PageResponse::WideInvalid(title, main, _) => {
                write_page(res, ok, layout::bare(title, main));
            }
            PageResponse::Fragment(part) => write_page(res, ok, part),
            PageResponse::SwitchWorkspace(_) | PageResponse::LogOut => redirect(res, "/"),
        }
    }

    fn refusal(error: &Error, request_id: &str, visit: Option<&Visit<GuestSession>>) -> Markup {
        let form = visit.filter(|visit| visit.is_from_here).map(|visit| &visit.form);
        layout::bare_refusal(error, request_id, form)
    }
}

/// `/connect/elsewhere`.
struct Elsewhere;

#[async_trait]
impl Handler for Elsewhere {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, NO_LOGIN.path);
        protect_secret(res);
        let main = html! {
            h1 { "This is not the browser of the link" }
            p.flash.warn {
                "A link works in the browser that opened it first, for 30 minutes. Ask for a new one where you found it."
            }
        };
        write_page(res, StatusCode::NOT_FOUND, layout::bare("Another browser", main));
    }
}

/// `/connect/link/{id}/{signature}`: shows for whom an account is connected; its form begins.
struct LinkPage(Domain);

#[async_trait]
impl Handler for LinkPage {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, "/connect/link/{id}/{signature}");
        protect_secret(res);
        let done = if req.method() == Method::POST {
            self.begin(req, res).await
        } else {
            self.show(req, res).await
        };
        if let Err(error) = done {
            let page = layout::bare_refusal(&error, &request_id::get(req), None);
            write_page(res, page::status(&error), page);
        }
    }
}

impl LinkPage {
    async fn show(&self, req: &Request, res: &mut Response) -> Result<()> {
        let (id, signature) = place(req)?;
        let offer = oauth_connect::link_offer(&self.0, id, &signature).await?;
        let csrf = form::csrf_token(&form::form_secret(req, res, &self.0, &FORM));
        write_page(res, StatusCode::OK, layout::bare("Connect an account", page_of(&offer, &csrf)));
        Ok(())
    }

    async fn begin(&self, req: &mut Request, res: &mut Response) -> Result<()> {
        let (id, signature) = place(req)?;
        form::own_fields(req, &self.0, &FORM).await?;
        // A browser may have several links open: they share its secret.
        let secret = form::form_secret(req, res, &self.0, &GUEST);
        oauth_connect::claim_link(&self.0, id, &signature, &secret).await?;
        form::set_cookie(res.headers_mut(), &self.0, &GUEST, secret.expose_secret(), LIFETIME);
        redirect(res, &format!("{}/{id}", GuestSession::PAGES));
        Ok(())
    }
}

fn place(req: &Request) -> Result<(ConnectSessionId, String)> {
    let text = |name: &str| req.params().get(name).cloned().unwrap_or_default();
    let id = text("id").parse::<Uuid>().map_err(|_| {
        Error::new(fanfare_core::Code::ConnectSessionNotFound, "There is no such link.")
    })?;
    Ok((ConnectSessionId(id), text("signature")))
}

fn page_of(offer: &LinkOffer, csrf: &str) -> Markup {
    let label = offer.label;
    html! {
        h1 { "Connect " (label) }
        @if let Some(app) = &offer.app {
            p { strong { (app) } " asks you to connect your " (label) " account. It will publish and read there for the workspace " strong { (offer.workspace) } "." }
        } @else {
            p { "You are asked to connect your " (label) " account to the workspace " strong { (offer.workspace) } ", which will publish and read there." }
        }
        @if offer.is_sandbox { p { span.badge.warn { "simulated network" } } }
        p.soft { "Go on only if you know who sent you here. You can end it at any time at " (label) ". You need no account with us." }
        form.narrow method="post" {
            input type="hidden" name="csrf" value=(csrf);
            button type="submit" autofocus { "Go on" }
        }
    }
}
