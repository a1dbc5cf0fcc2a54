//! `docs/platforms.md` says what the descriptors say. `INSTA_UPDATE=always` writes it.

use std::{fmt::Write as _, path::Path};

use fanfare_platforms::{
    self as platforms, ConnectSpec, LimitScope, MediaRules, Platform, RateLimit, Spec,
};

/// The text above the tables.
const HEAD: &str = "\
# Platforms

Made from the descriptors in `platforms/src/<name>/mod.rs`; a test compares. After a change of a descriptor write it anew:

    INSTA_UPDATE=always cargo test --workspace --test stories platforms_document

`GET /api/v1/platforms` has the same as data, with every setting, examples, and where each fact comes from.
";

#[test]
fn the_document_says_what_the_descriptors_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/platforms.md");
    let wanted = document();
    #[expect(
        clippy::disallowed_methods,
        reason = "the variable that writes snapshots writes this too"
    )]
    let writes = std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always");
    if writes {
        std::fs::write(&path, &wanted).expect("docs/platforms.md is written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = wanted.lines().zip(kept.lines()).find(|(wanted, kept)| wanted != kept);
    assert!(
        kept == wanted,
        "docs/platforms.md is stale; write it anew as its head says. First difference: {differs:#?}"
    );
}

fn document() -> String {
    let mut document = HEAD.to_owned();
    table(
        &mut document,
        "What happens to a post",
        "The class says what is done when the answer to the publishing call is lost ([architecture](architecture.md)). Of\n\
         networks that can be asked nothing, such a post ends as `outcome_unknown`, and a user decides.",
        &[
            "Platform",
            "Class",
            "What is asked after a lost answer",
            "Limits that are kept to",
            "Tested against",
        ],
        |spec| {
            vec![
                spec.recovery_class.as_str().to_owned(),
                or_nothing(spec.doc_notes.reconcile),
                several(spec.rate_limits.iter().map(limit)),
                match spec.doc_notes.tested {
                    "" => "its simulator".to_owned(),
                    software => format!("{software}, and its simulator"),
                },
            ]
        },
    );
    table(
        &mut document,
        "What a post may be",
        "Files that differ are converted first where that is possible. Servers and plans may narrow this for an account.",
        &["Platform", "Post types", "Text", "Images", "Videos", "Besides"],
        |spec| {
            vec![
                several(spec.post_types.iter().map(|kind| format!("`{}`", kind.name))),
                caption(spec),
                several(rules(spec).filter_map(|(kind, rules)| images(kind, rules))),
                several(rules(spec).filter_map(|(kind, rules)| videos(kind, rules))),
                several(besides(spec)),
            ]
        },
    );
    table(
        &mut document,
        "How accounts are connected",
        "`fanfare doctor` and the platforms page of the dashboard warn before a version of an API ends.",
        &["Platform", "Way", "Tokens", "API", "Helper tools"],
        |spec| {
            vec![
                way(spec),
                spec.doc_notes.tokens.to_owned(),
                spec.api.map_or_else(
                    || "without versions".to_owned(),
                    |api| {
                        let released =
                            api.released.map_or_else(String::new, |day| format!(" of {day}"));
                        let ends = match api.ends {
                            Some(ends) => format!("until {ends} ({})", api.ends_basis.as_str()),
                            None => "no end announced".to_owned(),
                        };
                        format!(
                            "{}{released}, {ends}; newest known on {}: {}",
                            api.version, api.checked_at, api.newest_known
                        )
                    },
                ),
                several(spec.tools.iter().map(|tool| format!("`{tool}`"))),
            ]
        },
    );
    document
}

fn table(
    to: &mut String,
    title: &str,
    about: &str,
    heads: &[&str],
    row: impl Fn(&Spec) -> Vec<String>,
) {
    writeln!(to, "\n## {title}\n\n{about}\n").unwrap();
    writeln!(to, "| {} |", heads.join(" | ")).unwrap();
    writeln!(to, "|{}", "---|".repeat(heads.len())).unwrap();
    for spec in platforms::all().iter().map(|platform: &&dyn Platform| platform.spec()) {
        let cells = row(spec).into_iter().map(|cell| cell.replace('|', "\\|"));
        let cells: Vec<_> = cells.collect();
        writeln!(to, "| {} (`{}`) | {} |", spec.label, spec.id, cells.join(" | ")).unwrap();
    }
}

fn or_nothing(text: &str) -> String {
    if text.is_empty() { "nothing".to_owned() } else { text.to_owned() }
}

fn several(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join("; ") }
}

fn limit(limit: &RateLimit) -> String {
    let per = match limit.scope {
        LimitScope::Account => "an account",
        LimitScope::Workspace => "a workspace",
        LimitScope::App => "an app",
    };
    let kinds: Vec<_> = limit.post_types.iter().map(|kind| format!(" `{kind}`")).collect();
    format!("{}{} in {} of {per}", limit.calls, kinds.join(" or"), time(limit.period.as_millis()))
}

/// The media rules of the network, and those of post types that have their own.
fn rules(spec: &Spec) -> impl Iterator<Item = (&'static str, MediaRules)> {
    let own = spec.post_types.iter().filter_map(|kind| Some((kind.name, kind.media?)));
    let general = spec.post_types.iter().any(|kind| kind.media.is_none());
    general.then_some(("", spec.media)).into_iter().chain(own)
}

fn caption(spec: &Spec) -> String {
    let Spec { caption, caption_max_with_video, .. } = spec;
    let beside = [(caption.max_with_media, "media"), (*caption_max_with_video, "a video")];
    let beside = beside.iter().filter_map(|(max, what)| Some(format!("{} beside {what}", (*max)?)));
    let bytes = caption.max_bytes.map(|bytes| format!("{bytes} bytes"));
    let whole = format!("{} {}", caption.max, caption.unit);
    several(std::iter::once(whole).chain(beside).chain(bytes))
}

/// Rows that only some networks have.
fn besides(spec: &Spec) -> impl Iterator<Item = String> {
    let alt = Some(spec.alt_text_max).filter(|max| *max > 0);
    let thread = spec.thread.map(|thread| {
        let (kind, most, long) = (thread.post_type, thread.segments_max, thread.segment_max);
        format!("`{kind}`: up to {most} posts of {long}")
    });
    let documents = spec.documents.map(|documents| {
        let (kind, types) = (documents.post_type, kinds(documents.types));
        format!("`{kind}`: one {types}, {}", size(documents.bytes_max))
    });
    let alt = alt.map(|max| format!("alt texts of {max} characters"));
    let equal = spec.equal_text_hours;
    let equal =
        equal.map(|hours| format!("may refuse the same text within {hours} h (Fanfare's hours)"));
    [alt, thread, documents, equal].into_iter().flatten()
}

fn of_kind(kind: &str, words: String) -> String {
    if kind.is_empty() { words } else { format!("`{kind}`: {words}") }
}

fn kinds(types: &[&str]) -> String {
    let names = types.iter().map(|mime| mime.rsplit(['/', '-']).next().unwrap_or(mime));
    names.collect::<Vec<_>>().join(", ")
}

fn images(kind: &str, rules: MediaRules) -> Option<String> {
    let most = rules.images_max.min(rules.total_max);
    (most > 0).then(|| {
        of_kind(
            kind,
            format!("{most} of {}, {}", kinds(rules.image_types), size(rules.image_bytes_max)),
        )
    })
}

fn videos(kind: &str, rules: MediaRules) -> Option<String> {
    let most = rules.videos_max.min(rules.total_max);
    (most > 0).then(|| {
        let longest = rules.video_ms_max.map(|ms| format!(", {}", time(ms.into())));
        let longest = longest.unwrap_or_default();
        let (types, size) = (kinds(rules.video_types), size(rules.video_bytes_max));
        of_kind(kind, format!("{most} of {types}{}, {size}{longest}", inside(&rules)))
    })
}

/// Describes the contents of a video that goes out as it is.
fn inside(rules: &MediaRules) -> String {
    let forms = rules.video_forms.iter().map(|form| {
        let (codecs, sounds) = (form.codecs.join("/"), form.sounds.join("/"));
        let (least, most) = form.frame_rate;
        let rates = if least > 0.0 || most < 120.0 {
            format!(", {least}–{most} fps")
        } else {
            String::new()
        };
        let first = if form.faststart { ", index first" } else { "" };
        format!("{codecs} {} with {sounds}{rates}{first}", form.pixels[0])
    });
    let forms: Vec<_> = forms.collect();
    if forms.is_empty() { String::new() } else { format!(" ({})", forms.join("; ")) }
}

fn size(bytes: u64) -> String {
    for (unit, name) in
        [(1 << 30, "GiB"), (1_000_000_000, "GB"), (1 << 20, "MiB"), (1_000_000, "MB")]
    {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{} {name}", bytes / unit);
        }
    }
    format!("{bytes} bytes")
}

fn time(ms: u128) -> String {
    for (unit, name) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")] {
        if ms >= unit && ms.is_multiple_of(unit) {
            return format!("{} {name}", ms / unit);
        }
    }
    format!("{ms} ms")
}

fn way(spec: &Spec) -> String {
    match spec.connect {
        ConnectSpec::Credentials(fields) => {
            let named = fields.iter().map(|field| {
                let needed = if field.required { "" } else { " (optional)" };
                format!("`{}`{needed}", field.name)
            });
            format!("credentials: {}", named.collect::<Vec<_>>().join(", "))
        }
        ConnectSpec::Oauth(oauth) if oauth.instance.is_some() => {
            "in a browser, with an app on each server that the service registers itself".to_owned()
        }
        ConnectSpec::Oauth(_) => {
            let [id, _] = spec.id.app_variables();
            format!("in a browser, with an app of yours (`{id}`)")
        }
    }
}
