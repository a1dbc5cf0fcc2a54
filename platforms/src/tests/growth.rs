//! Everything that reads a text, a page or a list takes time that grows in proportion to it: each is given inputs that
//! make a careless scan start again at every sign, and four times as much of them.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::{
    Account, Draft, all, article, linkedin, page,
    tests::{
        conformance::progress,
        test_server::{self, Network},
    },
    text, validate, warnings, wordpress,
};

/// Sizes that are compared, in bytes.
const SMALL: usize = 6 << 10;
const LARGE: usize = 4 * SMALL;

/// Four times the input may take this many times as long. The square would be sixteen.
const GROWTH_MAX: u32 = 8;

/// Reads a text.
type Reader = fn(&str);

/// Makes a list of about so many bytes.
type List = fn(usize) -> Value;

/// The time below which a run is not measured further: the square of the input takes much longer.
const QUICK: Duration = Duration::from_millis(4);

/// Starts, and what is repeated behind them.
const PATTERNS: &[(&str, &str)] = &[
    ("", "a"),
    ("", " "),
    ("", "\n"),
    ("", "https://a.b "),
    ("", "https://a.com "),
    ("", "https://"),
    ("", "http"),
    ("", "https://[ "),
    ("", "https://["),
    ("", "a.com"),
    ("", "a."),
    ("", "com."),
    ("", ".."),
    ("", "a.com..x "),
    ("", "a.com/("),
    ("", "a.com/(("),
    ("https://a.com/", ")"),
    ("https://a.com/", "("),
    ("https://a.com/", "()"),
    ("https://a.com/?", "!"),
    ("", "日a.com"),
    ("", "日"),
    ("日.", "日"),
    ("", "日."),
    ("", "é"),
    ("", "xn--a."),
    ("", "@["),
    ("", "@[a]("),
    ("", "@[a](urn:li:person:"),
    ("", r"{hashtag|\#|"),
    ("", "@a@b.c "),
    ("", "@a"),
    ("", "@a@a"),
    ("", "@a.-"),
    ("", "@"),
    ("", "#a"),
    ("", "#"),
    ("", "(#"),
    ("#", "a"),
    ("#", "."),
    ("", "$A "),
    ("", "&"),
    ("", "&amp"),
    ("", "&#1"),
    ("", "&#x"),
    ("", "<"),
    ("", "<b>"),
    ("", "<b "),
    ("", "</b>"),
    ("", "<a href='"),
    ("", "<!--"),
    ("", "<!"),
    ("", "<title>"),
    ("", "<script>"),
    ("", "<meta a"),
    ("<meta ", "a "),
    ("", "<div>"),
    ("", "("),
    ("", "["),
    ("", "[a]("),
    ("", "![a]("),
    ("", "[["),
    ("", "*"),
    ("", "**a"),
    ("", "_a"),
    ("", "`"),
    ("", "``"),
    ("", "~"),
    ("", "||"),
    ("", ">"),
    ("", "> "),
    ("", "- "),
    ("", "|-"),
    ("", "\\"),
    ("", "e\u{301}"),
    ("e", "\u{301}"),
    ("", "\u{1f1e6}"),
    ("", "\u{200d}👨"),
    ("👨", "\u{200d}"),
    ("", "👨‍👩‍👧"),
    ("", "3\u{fe0f}\u{20e3}"),
    ("", "\u{fe0f}"),
    ("", "\u{1100}"),
    ("", "क\u{94d}"),
    ("क", "\u{94d}"),
    ("", "\u{300}\u{327}"),
    ("", "\r"),
    ("", "---\n"),
    ("", "a\n"),
];

/// Fails if the time of `run` grows faster than its input, for any pattern.
pub fn proportional(name: &str, run: impl Fn(&str)) {
    for (start, unit) in PATTERNS {
        let input = |size: usize| format!("{start}{}", unit.repeat(size / unit.len()));
        growth(&format!("{name} of {start:?} and {unit:?} repeated"), &input, &run);
    }
}

/// Fails if the time of `run` grows faster than what `input` makes of a size.
pub fn growth<T: AsRef<I>, I: ?Sized>(name: &str, input: &impl Fn(usize) -> T, run: &impl Fn(&I)) {
    let (small, large) = (input(SMALL), input(LARGE));
    let timed = |input: &T| {
        let start = processor_time();
        run(input.as_ref());
        processor_time().saturating_sub(start)
    };
    let (mut less, mut more) = (Duration::MAX, Duration::MAX);
    // The fastest of several runs is what the work takes: neighbours on the machine slow down some of them.
    for _ in 0..8 {
        more = more.min(timed(&large));
        if more < QUICK {
            return;
        }
        less = less.min(timed(&small));
        if more < less * GROWTH_MAX {
            return;
        }
    }
    panic!("{name}: {SMALL} bytes take {less:?}, {LARGE} bytes {more:?}");
}

/// Returns the processor time that this thread has used.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[test]
fn texts_are_counted_and_searched_in_proportion_to_their_length() {
    let functions: [(&str, Reader); 18] = [
        ("graphemes", |text| seen(&text::graphemes(text))),
        ("UTF-16 units", |text| seen(&text::utf16_units(text))),
        ("X units", |text| seen(&text::x_units(text))),
        ("X links", |text| seen(&text::x_links(text))),
        ("Mastodon units", |text| seen(&text::mastodon_units(text))),
        ("Threads units", |text| seen(&text::threads_units(text))),
        ("Slack units", |text| seen(&text::slack_units(text))),
        ("web address", |text| seen(&text::has_web_address(text))),
        ("first address", |text| seen(&text::first_address(text))),
        ("language tag", |text| seen(&text::is_language_tag(text))),
        ("title", |text| seen(&article::title(None, text, 100))),
        ("text without title", |text| seen(&article::body(None, text))),
        ("slug", |text| seen(&article::slug(text, Uuid::nil()))),
        ("pasted identifier", |text| seen(&text::clean_identifier(text))),
        ("LinkedIn commentary", |text| seen(&linkedin::commentary_of(text))),
        ("WordPress HTML", |text| seen(&wordpress::html_of(text))),
        ("page", |text| seen(&parsed(text, "text/html; charset=utf-8"))),
        ("page without a charset", |text| seen(&parsed(text, "text/html"))),
    ];
    for (name, run) in &functions {
        proportional(name, run);
    }
}

/// A page whose title, description and rest are this text.
fn parsed(text: &str, content_type: &str) -> Option<page::PageMetadata> {
    let html =
        format!("<title>{text}</title><meta property=og:description content='{text}'>{text}");
    page::parse(html.as_bytes(), content_type, &"https://a.example/".parse().ok()?)
}

/// Readers of errors, over what a network may say in them.
#[test]
fn errors_of_every_network_are_read_in_proportion_to_their_length() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for platform in all() {
        let id = platform.spec().id;
        let draft = progress::drafts(*platform).next().unwrap();
        for unit in ["a", " ", "&amp;", "\\", "é", "Validation failed: "] {
            let input = |size: usize| unit.repeat(size / unit.len());
            growth(&format!("errors of {id} with {unit:?}"), &input, &|text: &str| {
                let said = text.to_owned();
                runtime.block_on(async {
                    let body = json!({
                        "message": said, "error": {"message": said, "error_user_msg": said},
                        "errors": [{"message": said}], "detail": said, "description": said,
                    });
                    let network = Network::start(move |_| (400, body.clone())).await;
                    let session = progress::session(&network, id);
                    seen(&platform.publish(&session, &draft, None).await.is_ok());
                });
            });
        }
    }
}

fn seen<T>(result: &T) {
    std::hint::black_box(result);
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// A post whose every text is `text`.
fn full_of(text: &str, spec: &crate::Spec, settings: Map<String, Value>) -> Draft {
    let metadata = spec.thread.map(|rules| (rules.metadata_key.to_owned(), json!([text, text])));
    Draft {
        caption: text.to_owned(),
        metadata: metadata.into_iter().collect(),
        settings,
        ..test_server::draft(text, json!({}))
    }
}

#[test]
fn posts_of_every_network_are_checked_in_proportion_to_their_length() {
    for platform in all() {
        let spec = platform.spec();
        let kinds: Vec<_> = spec.post_types.iter().map(|kind| kind.name).collect();
        let mut settings = vec![object(json!({}))];
        if spec.settings.iter().any(|setting| setting.name == "parse_mode") {
            settings.push(object(json!({"parse_mode": "HTML"})));
            settings.push(object(json!({"parse_mode": "MarkdownV2"})));
        }
        for settings in settings {
            for kind in [kinds[0], kinds[kinds.len() - 1]] {
                proportional(&format!("a {kind} on {}", spec.id), |text| {
                    let draft = full_of(text, spec, settings.clone());
                    let draft = Draft { post_type: kind.to_owned(), ..draft };
                    drop(validate(*platform, &Account::default(), &draft));
                    drop(warnings(*platform, &draft));
                    platform.step(&draft, None);
                });
            }
        }
    }
}

#[test]
fn settings_of_every_network_are_checked_in_proportion_to_their_length() {
    let lists: [(&str, List); 5] = [
        ("texts", |size| (0..size / 8).map(|n| json!(format!("t{n:05}"))).collect()),
        ("same texts", |size| (0..size / 8).map(|_| json!("t")).collect()),
        ("objects", |size| (0..size / 8).map(|n| json!({"name": n})).collect()),
        ("a text", |size| json!("a".repeat(size))),
        ("keys", |size| {
            (0..size / 8).map(|n| (format!("k{n:05}"), json!(n))).collect::<Map<_, _>>().into()
        }),
    ];
    for platform in all() {
        let spec = platform.spec();
        for setting in spec.settings {
            for (what, make) in &lists {
                let input = |size: usize| {
                    Box::new(json!({setting.name: make(size), "poll": {"options": make(size)}}))
                };
                growth(
                    &format!("{} of {}: {what}", setting.name, spec.id),
                    &input,
                    &|given: &Value| {
                        let draft = test_server::draft("text", given.clone());
                        drop(validate(*platform, &Account::default(), &draft));
                    },
                );
            }
        }
        let input = |size: usize| {
            let key = spec.thread.map_or("segments", |rules| rules.metadata_key);
            let texts: Vec<String> = (0..size / 8).map(|n| format!("t{n:05}")).collect();
            let media = texts.iter().map(|_| test_server::media("a.png", "image/png")).collect();
            let draft = Draft { media, ..test_server::draft("text", json!({})) };
            let post_type = spec.thread.map_or(spec.post_types[0].name, |rules| rules.post_type);
            Box::new(Draft {
                metadata: object(json!({key: texts})),
                post_type: post_type.to_owned(),
                ..draft
            })
        };
        growth(&format!("segments and files of {}", spec.id), &input, &|draft: &Draft| {
            drop(validate(*platform, &Account::default(), draft));
        });
    }
}

#[test]
fn a_caption_far_over_the_limit_is_refused_from_its_size_alone() {
    for platform in all() {
        let limit = platform.spec().caption.max;
        let size = (limit * 33).max(100 << 10);
        let draft = test_server::draft(&"https://a.b ".repeat(size / 12 + 1), json!({}));
        let start = Instant::now();
        let found = validate(*platform, &Account::default(), &draft);
        let told: Vec<_> = found.iter().filter(|one| one.field == "caption").collect();
        assert_eq!(told.len(), 1, "{}: {told:?}", platform.spec().id);
        assert_eq!(told[0].code, "caption_too_long");
        assert_eq!(told[0].actual, Some(draft.caption.len().into()));
        assert!(start.elapsed() < Duration::from_secs(2), "{}", platform.spec().id);
    }
}
