//! Reads the forms of a page as a browser without scripts does.

/// A form that is sent with POST.
#[derive(Debug, Clone)]
pub struct Form {
    /// The address that it is sent to.
    pub action: String,
    /// Its fields, but for buttons.
    pub fields: Vec<Field>,
    /// True unless it lies in details that are closed.
    pub is_shown: bool,
    /// True if it is drawn from a draft, which the composer keeps.
    pub is_draft: bool,
}

/// A field as it stands on the page.
#[derive(Debug, Clone)]
pub struct Field {
    pub name: String,
    pub kind: Kind,
    /// The value that it holds; of a box and of an option, the one that ticking sends.
    pub value: String,
    /// True for a box that is ticked.
    pub is_ticked: bool,
    /// True if it is marked as wrong.
    pub is_wrong: bool,
    /// The values of a list to choose from.
    pub options: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Box,
    Choice,
    Hidden,
    Password,
}

impl Form {
    /// Returns the forms of the content of a page.
    pub fn of(html: &str) -> Vec<Self> {
        let main = &html[html.find("<main").expect("a content")..];
        let mut forms = Vec::new();
        let mut from = 0;
        while let Some(start) = main[from..].find("<form ").map(|at| from + at) {
            let end = start + main[start..].find("</form>").expect("an end");
            let before = &main[..start];
            let tag = tag(&main[start..]);
            from = end;
            if attribute(tag, "method").as_deref() == Some("post") {
                forms.push(Self {
                    action: attribute(tag, "action").unwrap_or_default(),
                    fields: fields(&main[start..end]),
                    is_shown: is_shown(before),
                    is_draft: tag.contains(" data-kept="),
                });
            }
        }
        forms
    }

    /// Returns true if a person can write or choose something in it.
    pub fn takes_something(&self) -> bool {
        self.fields.iter().any(|field| matches!(field.kind, Kind::Text | Kind::Box | Kind::Choice))
    }
}

fn is_shown(before: &str) -> bool {
    let Some(start) = before.rfind("<details ") else { return true };
    before[start..].contains("</details>") || tag(&before[start..]).contains(" open")
}

fn fields(form: &str) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let mut rest = form;
    while let Some(start) = rest.find('<') {
        let tag = tag(&rest[start..]);
        rest = &rest[start + tag.len()..];
        let element = tag[1..].split([' ', '>']).next().unwrap_or_default();
        let named = attribute(tag, "name").unwrap_or_default();
        let mut add = |kind, value: String| {
            fields.push(Field {
                name: named.clone(),
                kind,
                value,
                is_ticked: flag(tag, "checked"),
                is_wrong: tag.contains(" aria-invalid=\"true\""),
                options: Vec::new(),
            });
        };
        let value = attribute(tag, "value");
        match (element, attribute(tag, "type").as_deref().unwrap_or("text")) {
            ("input", "hidden") => add(Kind::Hidden, value.unwrap_or_default()),
            ("input", "password") => add(Kind::Password, String::new()),
            ("input", "checkbox" | "radio") => add(Kind::Box, value.unwrap_or("on".to_owned())),
            ("input", "file" | "submit") => {}
            ("input", _) => add(Kind::Text, value.unwrap_or_default()),
            ("textarea", _) => {
                let text = rest.split("</textarea>").next().unwrap_or_default();
                add(Kind::Text, unescaped(text.strip_prefix('\n').unwrap_or(text)));
            }
            ("select", _) => add(Kind::Choice, String::new()),
            ("option", _) => {
                if let Some(list) = fields.last_mut() {
                    let value = value.unwrap_or_default();
                    if flag(tag, "selected") || list.options.is_empty() {
                        list.value.clone_from(&value);
                    }
                    list.options.push(value);
                }
            }
            _ => {}
        }
    }
    fields.retain(|field| !field.name.is_empty());
    fields
}

fn tag(html: &str) -> &str {
    &html[..=html.find('>').expect("a tag")]
}

fn flag(tag: &str, name: &str) -> bool {
    tag.trim_end_matches('>').split(' ').any(|part| part == name)
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let start = format!(" {name}=\"");
    let rest = &tag[tag.find(&start)? + start.len()..];
    rest.split('"').next().map(unescaped)
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
