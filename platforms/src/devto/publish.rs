//! Converts a draft to an article, and finds the article again.

use std::borrow::Cow;

use chrono::{DateTime, Utc};

use super::{
    SPEC,
    client::{self, Article, NewArticle},
    settings::{Settings, TITLE_MAX, ai_level},
};
use crate::{
    Draft, Progress, ReconcileOutcome, Result, Session, article, kept, recent_posts, text,
    visibility::Difference,
};

/// Returns the article of a draft.
pub fn article(draft: &Draft, settings: &Settings) -> NewArticle {
    let text = article::body(settings.title.as_deref(), &draft.caption);
    NewArticle {
        title: article::title(settings.title.as_deref(), &draft.caption, TITLE_MAX),
        body_markdown: article::with_images(&plain_start(text), draft, &settings.media_alt_texts),
        published: true,
        main_image: draft.media.first().map(|media| media.url.clone()),
        canonical_url: settings.canonical_url.clone(),
        tags: settings.tags.clone(),
        description: settings.description.clone().filter(|text| !text.is_empty()),
        series: settings.series.clone(),
        organization_id: settings.organization_id,
        ai_disclosure_level: ai_level(draft, settings),
    }
}

/// Replaces a line of hyphens at the start, which would be read as front matter and override the request's fields, with
/// a line of asterisks, which looks the same.
fn plain_start(text: &str) -> Cow<'_, str> {
    let hyphens = text.trim_start_matches('\u{feff}');
    let rest = hyphens.trim_start().trim_start_matches('-');
    if hyphens.trim_start().starts_with("---") { format!("***{rest}").into() } else { text.into() }
}

/// Looks for the article among the account's latest: same title and text, created since the call.
pub async fn reconcile(
    session: &Session,
    draft: &Draft,
    sent_at: DateTime<Utc>,
) -> Result<ReconcileOutcome> {
    let sent = article(draft, &draft.settings()?);
    let changes = SPEC.alterations;
    let has_text = text::has_words(&sent.body_markdown);
    let likeness = |one: &Article| {
        let title = text::likeness_altered(changes.title, &sent.title, &one.title);
        let body = text::likeness_altered(changes.text, &sent.body_markdown, &one.body_markdown);
        text::of_article(title, body, has_text)
    };
    let looked =
        recent_posts::search(sent_at, likeness, |next| client::latest(session, next)).await?;
    looked.listing(|one| Ok((one.id.to_string(), done(&sent, one)))).map(Into::into)
}

/// Returns the result for an article that was made.
pub fn done(sent: &NewArticle, made: Article) -> Progress {
    let texts = [
        ("settings.title", SPEC.alterations.title, &sent.title, &made.title),
        ("caption", SPEC.alterations.text, &sent.body_markdown, &made.body_markdown),
    ];
    let warnings = texts.into_iter().filter_map(|(field, changes, sent, shown)| {
        kept::warning(&SPEC, field, changes, (sent, shown))
    });
    let hidden = Difference {
        field: "platform_post_url",
        asked: "public",
        given: if made.published_at.is_some() { "" } else { "draft" },
        cause: "DEV keeps it as a draft, as it does for accounts and organizations that it looks at first.",
        remedy: "Publish the draft on DEV.",
    };
    let warnings = warnings.chain(hidden.warning()).collect();
    Progress::done(made.id.to_string(), Some(made.url)).with_warnings(warnings)
}

#[cfg(test)]
mod tests {
    use super::plain_start;

    #[test]
    fn a_text_never_starts_with_front_matter() {
        assert_eq!(plain_start("---\ntitle: x\n---\ny"), "***\ntitle: x\n---\ny");
        assert_eq!(plain_start("\n ---- a"), "*** a");
        assert_eq!(plain_start("-- a"), "-- a");
        assert_eq!(plain_start("a\n---"), "a\n---");
    }
}
