//! What somebody typed into a form that was refused. It always comes back: in the form, or else beside it.

use fanfare_api::query::Pairs;
use fanfare_core::Error;
use maud::{Markup, PreEscaped, html};

use super::refill::refilled;

/// Fields that nobody types.
const TECHNICAL: [&str; 8] =
    ["csrf", "once", "order", "do", "part", "next", "workspace_id", "version"];

/// Words in the names of fields whose values never leave the browser again.
const SECRET: [&str; 5] = ["password", "secret", "token", "key", "code"];

/// The most characters of a text that come back beside the form.
const MOST: usize = 100_000;

/// Returns true for a field whose value never leaves the browser again.
pub fn is_secret(name: &str) -> bool {
    name.ends_with("webhook_url") || name.split(['_', '-', '.']).any(|word| SECRET.contains(&word))
}

/// Returns the texts that somebody typed, with their fields.
fn texts(form: &Pairs) -> impl Iterator<Item = (&str, String)> {
    let is_typed = |name: &str| !TECHNICAL.contains(&name) && !is_secret(name);
    form.iter()
        .filter(move |(name, value)| is_typed(name) && !value.trim().is_empty())
        .map(|(name, value)| (name.as_str(), value.replace("\r\n", "\n")))
}

/// Returns true if somebody typed something.
pub fn is_any(form: &Pairs) -> bool {
    texts(form).next().is_some()
}

/// Renders the typed texts that a page does not show, to be copied.
pub fn beside(form: &Pairs, page: &str) -> Markup {
    let is_lost = |text: &str| !is_in_a_field(page, &html! { (text) }.into_string());
    let lost: Vec<_> = texts(form).filter(|(_, text)| is_lost(text.trim())).collect();
    html! {
        @if !lost.is_empty() {
            section.typed aria-labelledby="typed" {
                h2 #typed { "What you typed" }
                @for (place, (name, text)) in lost.iter().enumerate() {
                    @let id = format!("typed-{place}");
                    div.field {
                        label for=(id) { (label(name)) }
                        textarea id=(id) readonly rows=(text.lines().count().clamp(1, 8)) {
                            "\n" (text.chars().take(MOST).collect::<String>())
                        }
                    }
                }
            }
        }
    }
}

/// Returns true if a field of the page has this value; its place in other texts does not count.
fn is_in_a_field(page: &str, text: &str) -> bool {
    page.contains(&format!("value=\"{text}\"")) || is_in_a_textarea(page, text)
}

fn is_in_a_textarea(page: &str, text: &str) -> bool {
    let areas = page.split("</textarea>").filter_map(|part| part.rsplit_once("<textarea "));
    areas.filter_map(|(_, area)| area.split_once('>')).any(|(_, shown)| shown.contains(text))
}

/// Returns a page with the refusal of the form with this action: the form has what was sent, and its wrong fields are
/// marked. What it has no field for stands beside it.
pub fn refused(main: Markup, action: &str, form: &Pairs, error: &Error) -> Markup {
    let broken = error.violations().iter().map(|broken| broken.field.as_str());
    let wrong: Vec<_> = broken.flat_map(|path| [path, field(path)]).collect();
    let page = refilled(&main.into_string(), action, form, &wrong);
    let typed = beside(form, &page);
    html! { (PreEscaped(page)) (typed) }
}

/// Returns the field of a form that a violation is about: `times` for `times.0`.
fn field(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or(path)
}

/// Returns the label of a field: "Display name" for `display_name`.
fn label(name: &str) -> String {
    let words = name.rsplit('.').next().unwrap_or(name).replace(['_', '-'], " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use fanfare_core::Code;

    use super::*;

    fn form(pairs: &[(&str, &str)]) -> Pairs {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_the_page_lacks_comes_back_and_secrets_do_not() {
        let sent = form(&[
            ("csrf", "c"),
            ("caption", "One <b>\r\ntwo"),
            ("reply_text", "Thanks!"),
            ("app_password", "hunter2"),
        ]);
        let page =
            beside(&sent, "<textarea name=\"caption\">One &lt;b&gt;\ntwo</textarea>").into_string();
        assert!(page.contains("Reply text") && page.contains("Thanks!"), "{page}");
        assert!(!page.contains("Caption") && !page.contains("hunter2"), "{page}");
        assert!(beside(&sent, "").into_string().contains("One &lt;b&gt;\ntwo"));
        let elsewhere = beside(&sent, "<p>Thanks!</p><option value=\"Thanks\">").into_string();
        assert!(elsewhere.contains("Thanks!"), "{elsewhere}");
        assert!(!is_any(&form(&[("once", "1"), ("password", "x")])));
        assert!(is_secret("api_key") && is_secret("bot_token") && is_secret("webhook_url"));
        assert!(!is_secret("keywords") && !is_secret("url"));
    }

    #[test]
    fn the_fields_that_were_refused_are_marked_in_their_form() {
        let error = Error::field(Code::InvalidField, "email", "No.", "Correct it.");
        let main = html! {
            form method="post" action="/a" { input name="email"; input name="email_of_another"; }
            form method="post" action="/b" { input name="email"; }
        };
        let page = refused(main, "/a", &form(&[]), &error).into_string();
        let marked = "<input name=\"email\" aria-invalid=\"true\" aria-errormessage=\"refusal\">";
        assert!(page.contains(marked), "{page}");
        assert_eq!(page.matches("aria-invalid").count(), 1, "{page}");
    }
}
