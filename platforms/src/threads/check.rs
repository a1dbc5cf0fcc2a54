//! Rules that the descriptor cannot express.

use std::collections::BTreeSet;

use super::{CHAIN_KEY, container, settings::Settings};
use crate::{Draft, Violation};

/// Most distinct addresses in one post, <https://developers.facebook.com/docs/threads/posts>.
const LINKS_MAX: usize = 5;

/// Returns the violations of rules that the descriptor cannot express.
pub(super) fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut violations = links(draft, &settings);
    violations.extend(attachments(draft, &settings));
    violations.extend(ghost(draft, &settings));
    violations.extend(topic_tag(&settings));
    violations.extend(spoilers(draft, &settings));
    violations
}

fn links(draft: &Draft, settings: &Settings) -> Vec<Violation> {
    let is_chain = container::is_chain(draft);
    let segments = container::segments(draft);
    let counted = segments.iter().enumerate().map(|(index, text)| {
        let attached = settings.link_attachment.as_deref().filter(|_| index == 0);
        let found = addresses(text).into_iter().chain(attached).collect::<BTreeSet<_>>().len();
        let field =
            if is_chain { format!("metadata.{CHAIN_KEY}[{index}]") } else { "caption".to_owned() };
        (field, found)
    });
    counted
        .filter(|(_, found)| *found > LINKS_MAX)
        .map(|(field, found)| {
            Violation::new(
                field,
                "caption_too_many_links",
                format!("The text has {found} different links; threads allows {LINKS_MAX}."),
                format!("Keep at most {LINKS_MAX} links."),
            )
            .with_limit(LINKS_MAX, found)
            .in_unit("links")
        })
        .collect()
}

/// Returns the addresses in a text, without trailing punctuation.
fn addresses(text: &str) -> Vec<&str> {
    let trailing = ['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\''];
    let words = text.split_whitespace();
    let starts = |word: &str| {
        ["http://", "https://"].into_iter().filter_map(|scheme| word.find(scheme)).min()
    };
    words.filter_map(|word| Some(word[starts(word)?..].trim_end_matches(trailing))).collect()
}

fn attachments(draft: &Draft, settings: &Settings) -> Vec<Violation> {
    let given = settings.attachments();
    let beside_media = !draft.media.is_empty();
    let too_many = if beside_media { given.as_slice() } else { given.get(1..).unwrap_or_default() };
    let (message, remedy) = if beside_media {
        ("This attachment needs a post without media.", "Leave out the attachment or the media.")
    } else {
        (
            "Threads takes one attachment: a link, a poll, a GIF or a long text.",
            "Keep one of link_attachment, poll, gif_attachment and text_attachment.",
        )
    };
    too_many.iter().map(|name| invalid(name, message, remedy)).collect()
}

fn ghost(draft: &Draft, settings: &Settings) -> Option<Violation> {
    let text_only =
        draft.media.is_empty() && settings.attachments().is_empty() && !container::is_chain(draft);
    (settings.is_ghost_post && !text_only).then(|| {
        invalid(
            "is_ghost_post",
            "A ghost post is one text, without media, attachments and further segments.",
            "Leave out is_ghost_post, or post a text alone.",
        )
    })
}

fn topic_tag(settings: &Settings) -> Option<Violation> {
    let tag = settings.topic_tag.as_deref()?;
    tag.contains(['.', '&']).then(|| {
        invalid("topic_tag", "A topic may not contain . or &.", "Remove these characters.")
    })
}

fn spoilers(draft: &Draft, settings: &Settings) -> Vec<Violation> {
    let segments = container::segments(draft);
    let length = segments.first().map_or(0, |text| text.chars().count());
    let outside = |offset: usize, part: usize| offset.saturating_add(part) > length;
    let mut violations: Vec<_> = settings
        .spoilers
        .iter()
        .enumerate()
        .filter(|(_, spoiler)| outside(spoiler.offset, spoiler.length))
        .map(|(index, _)| {
            invalid(
                &format!("spoilers[{index}]"),
                "The spoiler reaches beyond the end of the text.",
                "Correct offset and length; both count characters.",
            )
        })
        .collect();
    if settings.is_spoiler_media && draft.media.is_empty() {
        violations.push(invalid(
            "is_spoiler_media",
            "There are no media to hide.",
            "Leave out is_spoiler_media, or add media.",
        ));
    }
    violations
}

fn invalid(name: &str, message: &str, remedy: &str) -> Violation {
    Violation::new(format!("settings.{name}"), "setting_invalid", message, remedy)
}
