//! Answers questions about the service from the pages under `/docs`.

use std::sync::OnceLock;

use fanfare_core::{Code, Reply, Result};
use fanfare_ops::{
    support::{self, Index, Passage, SupportAnswer},
    updates,
};

use crate::{Call, docs, routes::ROUTES};

/// Answers a question.
pub async fn ask(mut call: Call) -> Result<Reply<SupportAnswer>> {
    let question = call.body()?;
    support::answer(&call.act, index(&call.act.cx.settings.base_url), question).await
}

/// Returns the search index of the documentation, built once: a process has one origin.
fn index(base_url: &str) -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| Index::new(passages(base_url)))
}

fn passages(base_url: &str) -> Vec<Passage> {
    let operations = ROUTES.iter().map(|route| Passage {
        title: format!("{}: {}", route.name.replace('_', " "), route.summary),
        text: docs::markdown::entry(base_url, route).trim().to_owned(),
        url: format!("{base_url}/docs#{}", route.name),
    });
    let errors = Code::ALL.iter().map(|code| {
        let entry = code.entry();
        Passage {
            title: format!("Error {}", entry.code.replace('_', " ")),
            text: format!("`{}`: {} {}", entry.code, entry.cause, entry.remedy),
            url: format!("{base_url}/docs/errors#{}", entry.code),
        }
    });
    let guides = docs::guides::ALL.iter().flat_map(|guide| {
        guide.sections(base_url).into_iter().map(|(heading, text)| Passage {
            title: format!("{}: {heading}", guide.title()),
            text,
            url: format!("{base_url}/docs/guides/{}", guide.name),
        })
    });
    let news = updates::all().iter().map(|update| Passage {
        title: update.title.clone(),
        text: update.content.clone(),
        url: format!("{base_url}/updates/{}", update.slug),
    });
    guides.chain(operations).chain(errors).chain(news).collect()
}
