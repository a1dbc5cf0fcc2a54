//! The guides: the Markdown of `docs/guides/`, served as pages, as Markdown and to agents.

use maud::{Markup, html};

use super::html as frame;

/// A guide.
pub struct Guide {
    /// Its name in addresses.
    pub name: &'static str,
    /// The text, for a service at [`WRITTEN_FOR`].
    text: &'static str,
}

macro_rules! guides {
    ($($name:literal),+ $(,)?) => {
        &[$(Guide { name: $name, text: include_str!(concat!("../../../docs/guides/", $name, ".md")) }),+]
    };
}

/// All guides, in the order in which they are listed.
pub const ALL: &[Guide] = guides![
    "auth",
    "posts",
    "errors",
    "idempotency",
    "limits",
    "paging",
    "events",
    "webhooks",
    "deliveries",
    "uploads",
    "connect",
    "oauth",
    "signup",
    "credits",
    "leaving",
    "testing",
];

/// The address of the service in the programs of the guides.
const WRITTEN_FOR: &str = "http://127.0.0.1:8080";

impl Guide {
    /// Returns the title.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// Returns the text with whole addresses, so that it can be read anywhere.
    #[must_use]
    pub fn markdown(&self, base_url: &str) -> String {
        self.with_links(base_url, ".md")
    }

    /// Returns the page.
    #[must_use]
    pub fn page(&self, base_url: &str) -> String {
        let text = self.with_links(base_url, "");
        let text = text.split_once('\n').map_or("", |(_, text)| text);
        let main = html! {
            (frame::markdown(text))
            p.soft { a href={ "/docs/guides/" (self.name) ".md" } { "As Markdown" } }
        };
        frame::page(self.title(), &main)
    }

    /// Returns the sections without their programs, each with its heading.
    #[must_use]
    pub fn sections(&self, base_url: &str) -> Vec<(String, String)> {
        let (mut is_program, mut prose) = (false, String::new());
        for line in self.markdown(base_url).lines() {
            let is_fence = line.starts_with("```");
            is_program ^= is_fence;
            if !is_program && !is_fence {
                prose += &format!("{line}\n");
            }
        }
        let sections = prose.trim_start_matches("# ").split("\n## ");
        let section = |text: &str| {
            let (heading, text) = text.split_once('\n').unwrap_or((text, ""));
            (heading.to_owned(), text.trim().to_owned())
        };
        sections.map(section).filter(|(_, text)| !text.is_empty()).collect()
    }

    fn with_links(&self, base_url: &str, ending: &str) -> String {
        let text = self.text.replace(WRITTEN_FOR, base_url);
        let text = text.replace("](/", &format!("]({base_url}/"));
        ALL.iter().fold(text, |text, Guide { name, .. }| {
            let link = format!("]({base_url}/docs/guides/{name}{ending})");
            text.replace(&format!("]({name}.md)"), &link)
        })
    }
}

/// Returns the page that lists the guides.
#[must_use]
pub fn index() -> String {
    let main = html! {
        p { "What a program needs to know, each with programs for a shell, Python and Node that run as they stand." }
        (list())
    };
    frame::page("Guides", &main)
}

/// Renders the list of the guides.
pub fn list() -> Markup {
    html! {
        ul { @for guide in ALL { li { a href={ "/docs/guides/" (guide.name) } { (guide.title()) } } } }
    }
}

/// Returns the list of the guides as Markdown.
#[must_use]
pub fn markdown_list(base_url: &str) -> String {
    let line = |guide: &Guide| {
        format!("- [{}]({base_url}/docs/guides/{}.md)\n", guide.title(), guide.name)
    };
    ALL.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guide_names_this_service_and_leads_to_pages_that_are_there() {
        for guide in ALL {
            let (text, page) =
                (guide.markdown("https://f.example"), guide.page("https://f.example"));
            assert!(text.starts_with(&format!("# {}\n", guide.title())), "{}", guide.name);
            for shown in [&text, &page] {
                assert!(!shown.contains("127.0.0.1:8080"), "{}", guide.name);
            }
            let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            for link in links {
                let at = link.strip_prefix("https://f.example/docs").unwrap_or("?");
                let is_guide = at
                    .strip_prefix("/guides/")
                    .is_some_and(|name| ALL.iter().any(|one| format!("{}.md", one.name) == name));
                assert!(is_guide || at.is_empty() || at == "/errors", "{}: {link}", guide.name);
            }
            assert!(!page.contains("<pre>") && page.contains("<pre tabindex"), "{}", guide.name);
        }
    }
}
