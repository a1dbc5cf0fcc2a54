//! Parts of the pages of a connect session.

use fanfare_core::{BrandId, Error, WorkspaceId};
use fanfare_people::users::Workspace;
use fanfare_publishing::accounts::{
    ConnectOptions,
    oauth_connect::{
        AccountChoice, ConnectAccess, ConnectMethod, ConnectStage, CredentialField, Oauth,
        Permission,
    },
};
use maud::{Markup, html};

use super::visit::Visit;
use crate::browser::{form, visit};

/// The field for the address of the account's own server.
pub const INSTANCE: &str = "instance_url";

/// Renders a platform of the list.
pub fn platform_link(option: &ConnectOptions) -> Markup {
    let count = option.connected_count;
    html! {
        a href={ "/connect/" (option.platform) } {
            strong { (option.label) }
            @if count > 0 { span.soft { (count) " connected" } }
            @else if !option.configured { span.soft { "simulated only" } }
        }
    }
}

/// Renders the page of a platform, before there is a session.
pub fn start(
    visit: &Visit,
    option: &ConnectOptions,
    (workspaces, here): (&[Workspace], WorkspaceId),
    brands: &[(BrandId, String)],
) -> Markup {
    let (label, page) = (option.label, format!("/connect/{}", option.platform));
    let is_configured = option.configured;
    let name = workspaces.iter().find(|one| one.id == here).map_or("", |one| one.name.as_str());
    html! {
        h1 { "Connect " (label) }
        p.soft { "Workspace " strong { (name) } }
        @if workspaces.len() > 1 { (other_workspace(&page, workspaces, here)) }
        @if !is_configured {
            p.flash.warn {
                "No app of this service is registered with " (label) ", so only its simulator can be connected."
            }
        }
        form.narrow method="post" action=(page) {
            (token(visit))
            input type="hidden" name="workspace_id" value=(here);
            @if !brands.is_empty() {
                div.field {
                    label for="brand" { "Brand" }
                    select #brand name="workspace_client_id" {
                        @for (id, name) in brands { option value=(id) { (name) } }
                    }
                }
            }
            @if is_configured {
                div.tick {
                    input #sandbox type="checkbox" name="sandbox" value="1";
                    label.beside for="sandbox" { "Only try it out, on the simulator" }
                }
            } @else {
                input type="hidden" name="sandbox" value="1";
            }
            button type="submit" { "Go on" }
        }
    }
}

/// Renders the switch to another workspace, whose brands may differ.
fn other_workspace(page: &str, workspaces: &[Workspace], here: WorkspaceId) -> Markup {
    html! {
        form.inline method="get" action=(page) {
            label for="workspace" { "Another workspace" }
            select #workspace name="workspace_id" {
                @for one in workspaces {
                    option value=(one.id) selected[one.id == here] { (one.name) }
                }
            }
            button.quiet type="submit" { "Change" }
        }
    }
}

/// Renders the page of a session.
pub fn session<S>(
    visit: &visit::Visit<S>,
    access: &ConnectAccess,
    message: &str,
    wrong: Option<&Error>,
) -> Markup {
    let label = access.spec().label;
    html! {
        h1 { "Connect " (label) }
        p.soft {
            "Workspace " strong { (access.workspace) }
            @if let Some(app) = access.app() { " · for " strong { (app) } }
            @if access.is_sandbox() { " · " span.badge.warn { "simulated network" } }
        }
        @if let Some(wrong) = wrong { (what_is_wrong(wrong)) }
        @match access.stage() {
            ConnectStage::Ready(way) => (next_step(visit, access, way)),
            ConnectStage::Finishing => {
                p.flash.plain role="status" { (message) }
                p.soft { "This page refreshes itself." }
            }
            ConnectStage::Choose(choices) => (choose(visit, access, &choices)),
            ConnectStage::Connected => {
                p.flash.good role="status" { (message) }
                @if access.is_guest() { p { "You can close this page." } }
                @else { p { "You can close this page, or " a href="/connect" { "connect another account" } "." } }
            }
            ConnectStage::Ended => {
                p.flash.plain role="status" { (message) }
                (start_again(access))
            }
            ConnectStage::Failed => {
                p.flash.bad role="alert" { (message) }
                (start_again(access))
            }
        }
    }
}

fn start_again(access: &ConnectAccess) -> Markup {
    html! {
        @if access.is_guest() { p { "Ask for a new link where you found this one." } }
        @else { p.actions { a.button href={ "/connect/" (access.spec().id) } { "Start again" } } }
    }
}

fn what_is_wrong(wrong: &Error) -> Markup {
    html! {
        div.flash.bad #refusal role="alert" tabindex="-1" autofocus {
            p { (wrong.message()) }
            @for broken in wrong.violations().iter().skip(1) { p { (broken.message) } }
            @if let Some(remedy) = remedy(wrong) { p { (remedy) } }
        }
    }
}

/// Returns the remedy, unless it is about API requests.
fn remedy(wrong: &Error) -> Option<String> {
    wrong.details().remedy.clone()
}

fn next_step<S>(visit: &visit::Visit<S>, access: &ConnectAccess, way: ConnectMethod) -> Markup {
    let label = access.spec().label;
    html! {
        @match way {
            ConnectMethod::Provider(oauth, instance) => {
                (permission_list(label, oauth))
                form.narrow method="post" action=(step(access, "go")) {
                    (token(visit))
                    @if let Some(field) = instance { (input(visit, &field)) }
                    button type="submit" { "Continue to " (label) }
                }
            }
            ConnectMethod::Credentials(fields) => {
                p { "Fanfare asks " (label) " whether these are right, and keeps them encrypted." }
                form.narrow method="post" action=(step(access, "connect")) autocomplete="off" {
                    (token(visit))
                    @for field in fields { (input(visit, field)) }
                    button type="submit" { "Connect " (label) }
                }
            }
            ConnectMethod::Simulated => {
                p { "A new account is created on the simulated " (label) ". Nothing you post there leaves this service." }
                form.narrow method="post" action=(step(access, "simulate")) {
                    (token(visit))
                    label for="username" { "Name (optional)" }
                    input #username name="username" value=(visit.form("username").unwrap_or_default());
                    button type="submit" { "Create and connect" }
                }
            }
        }
        (cancel(visit, access))
    }
}

/// Lists the permissions that the user will be asked for, and which of them are optional.
fn permission_list(label: &str, oauth: &Oauth) -> Markup {
    let (needed, wanted): (Vec<&Permission>, Vec<_>) =
        oauth.permissions().partition(|one| one.required);
    html! {
        p { (label) " will ask you to allow Fanfare to do this for you:" }
        ul.granted { @for one in needed { li { (one.doc) } } }
        @if !wanted.is_empty() {
            p { "You can refuse this:" }
            ul.granted { @for one in wanted { li { (one.doc) } } }
        }
        p.soft { "You can end it at any time, here and at " (label) "." }
    }
}

/// Renders a field. The value of a secret field is never shown again.
fn input<S>(visit: &visit::Visit<S>, field: &CredentialField) -> Markup {
    let secret =
        ["password", "token", "key", "webhook_url"].iter().any(|part| field.name.ends_with(part));
    let shown = if secret { "" } else { visit.form(field.name).unwrap_or_default() };
    let kind = if secret { "password" } else { "text" };
    let hint = format!("{}-hint", field.name);
    html! {
        div.field {
            label for=(field.name) {
                (name(field.name)) @if !field.required { span.soft { " (optional)" } }
            }
            input id=(field.name) name=(field.name) type=(kind) value=(shown) required[field.required]
                aria-describedby=(hint) autocomplete="off" autocapitalize="none" spellcheck="false";
            p.soft.hint id=(hint) { (field.doc) }
        }
    }
}

/// Returns the label of a field: "App password" for `app_password`.
fn name(field: &str) -> String {
    if field == "identifier" {
        return "Handle or e-mail address".to_owned();
    }
    let mut words = field.replace('_', " ").replace(" url", " address").replace(" id", " ID");
    if let Some(first) = words.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    words
}

fn choose<S>(visit: &visit::Visit<S>, access: &ConnectAccess, choices: &[AccountChoice]) -> Markup {
    html! {
        p { "Which of them should Fanfare post to?" }
        form.narrow method="post" action=(step(access, "choose")) {
            (token(visit))
            fieldset {
                legend { "Accounts" }
                @for one in choices {
                    @let id = format!("account-{}", one.place);
                    div.tick {
                        input id=(id) type="checkbox" name="account" value=(one.place) checked[choices.len() == 1];
                        label.beside for=(id) {
                            strong { (one.username) }
                            @if let Some(name) = &one.display_name { span.soft { " " (name) } }
                        }
                    }
                }
            }
            button type="submit" { "Connect" }
        }
        (cancel(visit, access))
    }
}

fn cancel<S>(visit: &visit::Visit<S>, access: &ConnectAccess) -> Markup {
    html! {
        form.actions method="post" action=(step(access, "cancel")) {
            (token(visit))
            button.quiet type="submit" { "Cancel" }
        }
    }
}

/// Returns the path of the page of a session.
pub fn page(access: &ConnectAccess) -> String {
    let place = if access.is_guest() { "guest" } else { "sessions" };
    format!("/connect/{place}/{}", access.id())
}

fn step(access: &ConnectAccess, verb: &str) -> String {
    format!("{}/{verb}", page(access))
}

fn token<S>(visit: &visit::Visit<S>) -> Markup {
    html! { input type="hidden" name="csrf" value=(form::csrf_token(&visit.token)); }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn a_field_reads_like_words() {
        let names = ["app_password", "chat_id", "webhook_url", "identifier"].map(name);
        assert_eq!(
            names,
            ["App password", "Chat ID", "Webhook address", "Handle or e-mail address"]
        );
    }
}
