//! Gives the form that was refused its values back, whatever page draws it: what was typed, ticked and chosen. The pages
//! are ours, so their markup is as maud writes it.

use fanfare_api::query::Pairs;
use maud::html;

/// Returns the page with the values that were sent in the form with this action, which is open then, and the fields named
/// `wrong` marked. A form that is drawn from a draft of its own (`data-kept`) keeps its values.
pub fn refilled(page: &str, action: &str, sent: &Pairs, wrong: &[&str]) -> String {
    let mut done = String::with_capacity(page.len() + 256);
    let mut rest = page;
    while let Some((before, form, after)) = next_form(rest) {
        let tag = &form[..=form.find('>').unwrap_or(form.len() - 1)];
        if is_it(tag, action) {
            done += &opened(before);
            let is_drawn = tag.contains(" data-kept=");
            let mut values = Values { sent: if is_drawn { &[] } else { sent }, used: Vec::new() };
            done += &rewritten(form, &mut values, wrong, is_drawn);
        } else {
            done += before;
            done += form;
        }
        rest = after;
    }
    done + rest
}

/// Splits a page into what comes before its first form, the form, and the rest.
fn next_form(page: &str) -> Option<(&str, &str, &str)> {
    const END: &str = "</form>";
    let start = page.find("<form ")?;
    let end = start + page[start..].find(END)? + END.len();
    Some((&page[..start], &page[start..end], &page[end..]))
}

/// Returns true for the form with this action. One without any leads to the page's own address.
fn is_it(tag: &str, action: &str) -> bool {
    let own = html! { (action) }.into_string();
    attribute(tag, "action").is_none_or(|named| named == own)
}

/// Returns the text before a form, with the details around the form open.
fn opened(before: &str) -> String {
    const OPENING: &str = "<details ";
    let at =
        before.rfind(OPENING).filter(|at| before.rfind("</details>").is_none_or(|end| end < *at));
    let Some(at) = at else { return before.to_owned() };
    let end = before[at..].find('>').map_or(before.len(), |end| at + end);
    if before[at..end].ends_with(" open") {
        return before.to_owned();
    }
    format!("{} open{}", &before[..end], &before[end..])
}

/// The values that were sent. Of several with one name each field gets the next.
struct Values<'a> {
    sent: &'a [(String, String)],
    used: Vec<usize>,
}

impl Values<'_> {
    fn next(&mut self, name: &str) -> Option<String> {
        if super::typed::is_secret(name) {
            return None;
        }
        let mut all = self.sent.iter().enumerate();
        let (place, (_, value)) =
            all.find(|(place, (known, _))| known == name && !self.used.contains(place))?;
        self.used.push(place);
        Some(value.replace("\r\n", "\n"))
    }

    fn has(&self, name: &str, value: &str) -> bool {
        self.sent
            .iter()
            .any(|(known, sent)| known == name && html! { (sent) }.into_string() == value)
    }
}

fn rewritten(form: &str, values: &mut Values<'_>, wrong: &[&str], is_drawn: bool) -> String {
    let (mut done, mut rest, mut choice) = (String::with_capacity(form.len() + 64), form, None);
    while let Some((text, tag, after)) = next_tag(rest) {
        done += text;
        rest = after;
        let name = attribute(tag, "name").unwrap_or_default();
        let mark = |tag: String| if wrong.contains(&name) { marked(&tag) } else { tag };
        match element(tag) {
            "input" if is_drawn => done += &mark(tag.to_owned()),
            "input" => done += &mark(input(tag, name, values)),
            "textarea" => {
                done += &mark(tag.to_owned());
                if let Some(text) = values.next(name) {
                    done += "\n";
                    done += &html! { (text) }.into_string();
                    rest = &rest[rest.find("</textarea>").unwrap_or(0)..];
                }
            }
            "select" => {
                done += &mark(tag.to_owned());
                choice = values.next(name);
            }
            "/select" => {
                choice = None;
                done += tag;
            }
            "option" => match &choice {
                Some(chosen) => done += &chosen_or_not(tag, chosen),
                None => done += tag,
            },
            _ => done += tag,
        }
    }
    done + rest
}

/// Splits markup into the text before its next tag, the tag, and the rest.
fn next_tag(markup: &str) -> Option<(&str, &str, &str)> {
    let start = markup.find('<')?;
    let end = start + markup[start..].find('>')? + 1;
    Some((&markup[..start], &markup[start..end], &markup[end..]))
}

fn element(tag: &str) -> &str {
    tag[1..].split([' ', '>']).next().unwrap_or_default()
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let start = format!(" {name}=\"");
    let rest = &tag[tag.find(&start)? + start.len()..];
    rest.split('"').next()
}

/// Returns the tag of an input with the value that was sent.
fn input(tag: &str, name: &str, values: &mut Values<'_>) -> String {
    match attribute(tag, "type").unwrap_or("text") {
        "hidden" | "password" | "file" | "submit" => tag.to_owned(),
        "checkbox" | "radio" => {
            let is_ticked = values.has(name, attribute(tag, "value").unwrap_or("on"));
            with_flag(tag, "checked", is_ticked)
        }
        _ => match values.next(name) {
            Some(value) => with_value(tag, &value),
            None => tag.to_owned(),
        },
    }
}

fn chosen_or_not(tag: &str, chosen: &str) -> String {
    let chosen = html! { (chosen) }.into_string();
    with_flag(tag, "selected", attribute(tag, "value") == Some(chosen.as_str()))
}

/// Returns a tag with or without an attribute that has no value.
fn with_flag(tag: &str, flag: &str, is_set: bool) -> String {
    let (bare, flag) = (tag.trim_end_matches('>'), format!(" {flag}"));
    let bare = match bare.split_once(&format!("{flag} ")) {
        Some((before, after)) => format!("{before} {after}"),
        None => bare.strip_suffix(&flag).unwrap_or(bare).to_owned(),
    };
    format!("{bare}{}>", if is_set { flag.as_str() } else { "" })
}

fn with_value(tag: &str, value: &str) -> String {
    let written = format!(" value=\"{}\"", html! { (value) }.into_string());
    match attribute(tag, "value") {
        Some(old) => tag.replacen(&format!(" value=\"{old}\""), &written, 1),
        None => format!("{}{written}>", tag.trim_end_matches('>')),
    }
}

/// Returns the tag of a field that was refused.
fn marked(tag: &str) -> String {
    if tag.contains(" aria-invalid=") {
        return tag.to_owned();
    }
    format!("{} aria-invalid=\"true\" aria-errormessage=\"refusal\">", tag.trim_end_matches('>'))
}

#[cfg(test)]
mod tests {
    use super::refilled;

    fn sent(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_was_typed_ticked_and_chosen_is_there_again_in_its_form_alone() {
        let page = "<details class=\"confirm\"><summary>Change</summary><form method=\"post\" action=\"/a\">\
            <input type=\"hidden\" name=\"csrf\" value=\"c\"><input id=\"n\" name=\"name\" value=\"old\" required>\
            <textarea name=\"text\">\nold</textarea>\
            <input type=\"checkbox\" name=\"day\" value=\"mon\" checked><input type=\"checkbox\" name=\"day\" value=\"tue\">\
            <select name=\"role\"><option value=\"a\" selected>A</option><option value=\"b\">B</option></select>\
            <input type=\"password\" name=\"password\"></form></details>\
            <details class=\"confirm\"><form method=\"post\" action=\"/b\"><input name=\"name\" value=\"other\"></form></details>";
        let form = sent(&[
            ("csrf", "forged"),
            ("name", "<b>\"new\""),
            ("text", "one\r\ntwo"),
            ("day", "tue"),
            ("role", "b"),
            ("password", "hunter2"),
        ]);
        let shown = refilled(page, "/a", &form, &["name"]);
        for part in [
            "<details class=\"confirm\" open><summary>",
            "<input id=\"n\" name=\"name\" value=\"&lt;b&gt;&quot;new&quot;\" required aria-invalid=\"true\" aria-errormessage=\"refusal\">",
            "<textarea name=\"text\">\none\ntwo</textarea>",
            "value=\"mon\"><input type=\"checkbox\" name=\"day\" value=\"tue\" checked>",
            "<option value=\"a\">A</option><option value=\"b\" selected>B</option>",
            "<input type=\"hidden\" name=\"csrf\" value=\"c\">",
            "<input type=\"password\" name=\"password\">",
            "<details class=\"confirm\"><form method=\"post\" action=\"/b\"><input name=\"name\" value=\"other\"></form>",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert!(!shown.contains("forged") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn several_fields_of_one_name_get_their_own_values_and_a_draft_keeps_its_own() {
        let fields = "<input name=\"alt\" value=\"\"><input name=\"alt\" value=\"\"></form>";
        let form = sent(&[("alt", "one"), ("alt", "two")]);
        let page = format!("<form method=\"post\" action=\"/a\">{fields}");
        let shown = refilled(&page, "/a", &form, &[]);
        assert!(shown.contains("value=\"one\"><input name=\"alt\" value=\"two\">"), "{shown}");
        let drawn = format!("<form method=\"post\" action=\"/a\" data-kept=\"1\">{fields}");
        assert_eq!(refilled(&drawn, "/a", &form, &[]), drawn);
        assert_eq!(refilled(&page, "/b", &form, &["alt"]), page);
    }
}
