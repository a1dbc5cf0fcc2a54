//! The consent page, on which a user allows or denies a client access.

use fanfare_api::query::Pairs;
use fanfare_core::{Error, access::role_name};
use fanfare_people::oauth_provider::{
    AuthorizeRequest, ClientKind, ConsentWorkspace, Destination, scope_description,
};
use maud::{Markup, html};

use crate::browser::{frame, refusal::refusal, typed};

/// The content of the page.
pub(super) struct ConsentPage<'a> {
    pub email: &'a str,
    pub csrf: String,
    pub action: String,
    pub request: &'a AuthorizeRequest,
    pub places: &'a [ConsentWorkspace],
    /// True if the user has to enter the password again.
    pub asks_password: bool,
    /// What was sent and refused.
    pub wrong: Option<(&'a Pairs, &'a Error)>,
}

impl ConsentPage<'_> {
    /// Returns the whole page.
    pub(super) fn markup(&self) -> Markup {
        let header = html! {
            span.brand { "Fanfare" }
            span.who.soft { (self.email) }
        };
        let title = format!("Let {} in?", self.request.client.name);
        let mut main = self.main();
        if let Some((sent, error)) = self.wrong {
            main = typed::refused(main, &self.action, sent, error);
        }
        frame::page(&title, &html! {}, &header, &html! { div.sheet { (main) } })
    }

    fn main(&self) -> Markup {
        let client = &self.request.client;
        html! {
            h1 { "Let " (client.name) " in?" }
            p { strong { (client.name) } " asks to use your Fanfare account." }
            @if let Some((_, wrong)) = self.wrong {
                (refusal(wrong))
            }
            (self.facts())
            form.narrow method="post" action=(self.action) {
                input type="hidden" name="csrf" value=(self.csrf);
                (self.scopes())
                (self.workspaces())
                @if self.asks_password {
                    div.field {
                        label for="password" { "Your password, to allow it" }
                        input #password type="password" name="password" autocomplete="current-password";
                    }
                }
                p.row {
                    button type="submit" name="decision" value="allow" { "Allow" }
                    button.quiet type="submit" name="decision" value="deny" { "Deny" }
                }
            }
            p.soft { "You can end its access at any time on the page " strong { "Apps" } " of your dashboard." }
        }
    }

    fn facts(&self) -> Markup {
        let client = &self.request.client;
        let to = Destination::of(&self.request.redirect_uri);
        html! {
            dl.facts {
                dt { "Name" }
                dd {
                    (client.name)
                    @if client.kind != ClientKind::BuiltIn {
                        br; span.soft { "The tool chose this name; nobody has checked it." }
                    }
                }
                @if client.kind == ClientKind::Document { dt { "Published at" } dd { (client.id) } }
                dt { "Sends you to" }
                dd {
                    @match &to {
                        Destination::Site(host) => (host),
                        Destination::ThisComputer => "a program on this computer",
                        Destination::Program(scheme) => { "the program on this device that opens " code { (scheme) ":" } },
                    }
                }
            }
            @if !matches!(to, Destination::Site(_)) {
                p.flash.warn {
                    "Allow this only if you started it yourself, just now, in a program on this device."
                }
            }
        }
    }

    fn scopes(&self) -> Markup {
        html! {
            fieldset {
                legend { "It may" }
                @for scope in &self.request.scopes {
                    @let id = scope.as_str().replace(':', "-");
                    div.tick {
                        input id=(id) type="checkbox" name="scope" value=(scope.as_str()) checked;
                        label.beside for=(id) { (scope_description(*scope)) }
                    }
                }
            }
        }
    }

    fn workspaces(&self) -> Markup {
        let wanted = self.request.workspace_id;
        let chosen = self.places.iter().find(|place| Some(place.id) == wanted);
        let chosen = chosen.or(self.places.first()).map(|place| place.id);
        html! {
            fieldset {
                legend { "In the workspace" }
                @for place in self.places {
                    @let id = format!("workspace-{}", place.id);
                    div.tick {
                        input id=(id) type="radio" name="workspace_id" value=(place.id)
                            checked[Some(place.id) == chosen];
                        label.beside for=(id) {
                            strong { (place.name) }
                            span.soft { " · acts as you, " (role(place)) " here" }
                            @if let Some(lacks) = place.lacks { br; span.late { (lacks) } }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a role with its article.
fn role(place: &ConsentWorkspace) -> String {
    let name = role_name(place.role);
    let article = if name.starts_with(['a', 'e']) { "an" } else { "a" };
    let (first, rest) = name.split_at(1);
    format!("{article} {}{rest}", first.to_uppercase())
}
