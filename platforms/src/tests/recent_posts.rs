//! Every connector that looks for a lost post in a list turns the pages in its network's own way.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::{
    Draft, PlatformId, Progress, PublishedPost, ReconcileOutcome, Result, Secrets, find,
    recent_posts::PAGES_MAX,
    tests::test_server::{self, Network, Seen, at, settled},
};

const CAPTION: &str = "Title\n\nText";

/// Number of the lost post.
const LOST: u64 = 777;

/// One entry of a list.
#[derive(Debug, Clone, Copy)]
struct Entry {
    id: u64,
    is_it: bool,
    at: DateTime<Utc>,
}

impl Entry {
    fn of(id: u64, seconds: i64) -> Self {
        Self { id, is_it: id == LOST, at: at(seconds) }
    }

    fn text(self) -> &'static str {
        if self.is_it { CAPTION } else { "Other" }
    }
}

/// The form of one network's list.
#[derive(Clone, Copy)]
struct List {
    platform: PlatformId,
    account: &'static str,
    /// The call that lists.
    call: &'static str,
    /// Returns the page it asks for, the first being 0; a cursor names page 1 as "1".
    asked: fn(&Seen) -> Option<usize>,
    /// An answer: the entries, and what names the next page.
    page: fn(&[Entry], Option<usize>) -> Value,
    /// Returns the other parameters.
    besides: fn(&Seen) -> Value,
    draft: fn() -> (Draft, Value),
    /// A look that finds nothing says that nothing is there, and not only that nothing is known.
    says_absent: bool,
}

fn plain() -> (Draft, Value) {
    (test_server::draft(CAPTION, json!({})), json!({}))
}

fn with_image(settings: Value, state: Value) -> (Draft, Value) {
    let mut draft = test_server::draft(CAPTION, settings);
    draft.media = vec![test_server::media("a.jpg", "image/jpeg")];
    (draft, state)
}

fn nothing(seen: &Seen) -> Value {
    panic!("{}", seen.line)
}

fn cursor(seen: &Seen, name: &str) -> Option<usize> {
    seen.query(name).map(|cursor| cursor.parse().unwrap())
}

fn each(entries: &[Entry], shown: impl Fn(&Entry) -> Value) -> Value {
    entries.iter().map(shown).collect()
}

fn graph(entries: &[Entry], next: Option<usize>, (text, time): (&str, &str)) -> Value {
    let shown = |one: &Entry| {
        let at = one.at.format("%Y-%m-%dT%H:%M:%S+0000").to_string();
        json!({"id": one.id.to_string(), text: one.text(), time: at})
    };
    // The last page has a cursor too.
    let mut paging = json!({"cursors": {"after": next.unwrap_or(9_999).to_string()}});
    if next.is_some() {
        paging["next"] = json!("https://graph.facebook.com/somewhere");
    }
    json!({"data": each(entries, shown), "paging": paging})
}

const DEVTO: List = List {
    platform: PlatformId::Devto,
    account: "3",
    call: "GET /net/api/articles/me/all",
    asked: |seen| cursor(seen, "page").map(|page| page - 1),
    page: |entries, _| {
        let title = |one: &Entry| if one.is_it { "Title" } else { "Other" };
        each(
            entries,
            |one| json!({"id": one.id, "url": "https://dev.to/x", "title": title(one), "body_markdown": one.text(), "published_at": one.at}),
        )
    },
    besides: nothing,
    draft: plain,
    says_absent: true,
};

const LEMMY: List = List {
    platform: PlatformId::Lemmy,
    account: "lemmy.example:7",
    call: "GET /net/api/v3/user",
    page: |entries, _| {
        let name = |one: &Entry| if one.is_it { "Title" } else { "Other" };
        let shown = |one: &Entry| json!({"post": {"id": one.id, "name": name(one), "body": "Text", "published": one.at}});
        json!({"posts": each(entries, shown)})
    },
    draft: || (test_server::draft(CAPTION, json!({"community": "a@b.example"})), json!({})),
    ..DEVTO
};

const MASTODON: List = List {
    platform: PlatformId::Mastodon,
    account: "m.example:7",
    call: "GET /net/api/v1/accounts/7/statuses",
    asked: |seen| cursor(seen, "max_id"),
    page: |entries, _| {
        each(
            entries,
            |one| json!({"id": one.id.to_string(), "url": null, "created_at": one.at, "media_attachments": []}),
        )
    },
    besides: |seen| {
        let is_it = seen.line.ends_with(&format!("/{LOST}/source"));
        json!({"text": if is_it { CAPTION } else { "Other" }})
    },
    ..DEVTO
};

const FACEBOOK: List = List {
    platform: PlatformId::Facebook,
    account: "55",
    call: "GET /net/v26.0/55/published_posts",
    asked: |seen| cursor(seen, "after"),
    page: |entries, next| graph(entries, next, ("message", "created_time")),
    ..DEVTO
};

const INSTAGRAM: List = List {
    platform: PlatformId::Instagram,
    call: "GET /net/v26.0/55/media",
    page: |entries, next| graph(entries, next, ("caption", "timestamp")),
    besides: |_| json!({"status_code": "PUBLISHED"}),
    draft: || {
        let main = json!({"container": "c1", "ready": true, "since": at(-60)});
        with_image(json!({}), json!({"may_post": true, "main": main}))
    },
    says_absent: false,
    ..FACEBOOK
};

const COMMENTS: List = List {
    call: "GET /net/v26.0/p1/comments",
    page: |entries, next| graph(entries, next, ("text", "timestamp")),
    draft: || {
        let main = json!({"container": "c1", "ready": true, "published": "p1"});
        with_image(json!({"first_comment": CAPTION}), json!({"main": main}))
    },
    says_absent: true,
    ..INSTAGRAM
};

const THREADS: List = List {
    platform: PlatformId::Threads,
    call: "GET /net/v1.0/55/threads",
    page: |entries, next| graph(entries, next, ("text", "timestamp")),
    besides: |_| json!({"status": "PUBLISHED"}),
    draft: || {
        let stage = json!({"name": "publish", "container": "c1", "since": at(-60), "early": 0});
        (plain().0, json!({"published": [], "items": [], "stage": stage}))
    },
    ..INSTAGRAM
};

const GOOGLE_BUSINESS: List = List {
    platform: PlatformId::GoogleBusiness,
    account: "22",
    call: "GET /net/v4/accounts/11/locations/22/localPosts",
    asked: |seen| cursor(seen, "pageToken"),
    page: |entries, next| {
        let shown = |one: &Entry| json!({"name": format!("localPosts/{}", one.id), "summary": one.text(), "state": "LIVE", "createTime": one.at});
        let mut page = json!({"localPosts": each(entries, shown)});
        if let Some(next) = next {
            page["nextPageToken"] = json!(next.to_string());
        }
        page
    },
    draft: || (Draft { post_type: "standard".to_owned(), ..plain().0 }, json!({})),
    ..DEVTO
};

const LINKEDIN: List = List {
    platform: PlatformId::Linkedin,
    account: "urn:li:organization:77",
    call: "GET /net/rest/posts",
    asked: |seen| cursor(seen, "start"),
    page: |entries, _| {
        let shown = |one: &Entry| json!({"id": one.id.to_string(), "commentary": one.text(), "createdAt": one.at.timestamp_millis()});
        json!({"elements": each(entries, shown)})
    },
    ..DEVTO
};

const PINTEREST: List = List {
    platform: PlatformId::Pinterest,
    call: "GET /net/v5/boards/549/pins",
    asked: |seen| cursor(seen, "bookmark"),
    page: |entries, next| {
        let shown = |one: &Entry| {
            let at = one.at.format("%Y-%m-%dT%H:%M:%S").to_string();
            json!({"id": one.id.to_string(), "description": one.text(), "created_at": at})
        };
        json!({"items": each(entries, shown), "bookmark": next.map(|next| next.to_string())})
    },
    draft: || with_image(json!({"board": "549"}), json!({})),
    ..DEVTO
};

const SLACK: List = List {
    platform: PlatformId::Slack,
    account: "T1:C1",
    call: "GET /net/api/conversations.history",
    asked: |seen| cursor(seen, "cursor"),
    page: |entries, next| {
        let key = plain().0.key;
        // A message is known by its time alone.
        let shown = |one: &Entry| json!({"ts": format!("{}.{:06}", one.at.timestamp(), one.id), "metadata": {"event_payload": {"key": if one.is_it { key.to_string() } else { String::new() }}}});
        // Slack leaves out what is older than the call.
        let is_old = |one: &Entry| one.at < at(-600);
        let next = next.filter(|_| !entries.iter().any(is_old));
        let next = next.map(|next| next.to_string()).unwrap_or_default();
        json!({"ok": true, "messages": each(entries, shown), "response_metadata": {"next_cursor": next}})
    },
    ..DEVTO
};

const X: List = List {
    platform: PlatformId::X,
    account: "55",
    call: "GET /net/2/users/55/tweets",
    asked: |seen| cursor(seen, "pagination_token"),
    page: |entries, next| {
        let shown = |one: &Entry| json!({"id": one.id.to_string(), "text": one.text(), "created_at": one.at});
        let mut page = json!({"data": each(entries, shown), "meta": {}});
        if let Some(next) = next {
            page["meta"]["next_token"] = json!(next.to_string());
        }
        page
    },
    ..DEVTO
};

const TIKTOK: List = List {
    platform: PlatformId::Tiktok,
    call: "POST /net/v2/video/list/",
    asked: |seen| seen.json()["cursor"].as_u64().map(|cursor| usize::try_from(cursor).unwrap()),
    page: |entries, next| {
        let shown = |one: &Entry| json!({"id": one.id.to_string(), "title": "", "video_description": one.text(), "create_time": one.at.timestamp()});
        let data = json!({"videos": each(entries, shown), "cursor": next.unwrap_or(0), "has_more": next.is_some()});
        json!({"data": data, "error": {"code": "ok"}})
    },
    draft: || with_image(json!({}), json!({"stage": "begin"})),
    says_absent: false,
    ..DEVTO
};

const ALL: [List; 13] = [
    DEVTO,
    LEMMY,
    MASTODON,
    FACEBOOK,
    INSTAGRAM,
    COMMENTS,
    THREADS,
    GOOGLE_BUSINESS,
    LINKEDIN,
    PINTEREST,
    SLACK,
    X,
    TIKTOK,
];

/// Asks about a post that was lost, on an account with these entries; also answers how many pages were asked for.
async fn reconcile(
    list: List,
    entries: fn(usize) -> Vec<Entry>,
) -> (Result<ReconcileOutcome>, usize) {
    let network = Network::start(move |seen| {
        if seen.line != list.call {
            return (200, (list.besides)(seen));
        }
        let page = (list.asked)(seen).unwrap_or(0);
        (200, (list.page)(&entries(page), Some(page + 1)))
    })
    .await;
    let meta = json!({"instance_url": "https://m.example", "name": "me", "channel_id": "C1"});
    let secrets = ["access_token", "api_key", "jwt"].into_iter();
    let secrets = secrets.fold(Secrets::new(), |secrets, name| secrets.with(name, "token-1"));
    let secrets = secrets.with("location", "accounts/11/locations/22");
    let session = network.session(test_server::account(list.account, meta), secrets);
    let (draft, state) = (list.draft)();
    let found = find(list.platform).reconcile(&session, &draft, Some(state), at(0)).await;
    let found = found.map(settled);
    let asked = network.lines().iter().filter(|line| *line == list.call).count();
    (found, asked)
}

/// Something else that was posted, last on its page; the id names the page after it.
fn other(page: usize, seconds: i64) -> Entry {
    Entry::of(page as u64 + 1, seconds)
}

#[tokio::test]
async fn a_lost_post_is_found_behind_those_that_came_after_it() {
    for list in ALL {
        let (found, _) = reconcile(list, |page| match page {
            0 => vec![other(0, 30)],
            1 => vec![Entry::of(LOST, 1), other(1, -700)],
            _ => vec![other(page, -700)],
        })
        .await;
        let id = match found {
            Ok(ReconcileOutcome::Committed(Progress::Done(PublishedPost { id, .. }))) => id,
            Ok(ReconcileOutcome::Committed(Progress::Continue { remote_id, .. })) => {
                remote_id.unwrap()
            }
            other => panic!("{} {other:?}", list.call),
        };
        assert!(id.ends_with(&LOST.to_string()), "{} {id}", list.call);
    }
}

#[tokio::test]
async fn what_is_older_than_the_call_ends_the_look() {
    for list in ALL {
        let (found, asked) = reconcile(list, |page| match page {
            0 => vec![other(0, 30)],
            _ => vec![other(page, -700)],
        })
        .await;
        assert_eq!(asked, 2, "{}", list.call);
        let found = found.unwrap();
        assert_eq!(
            matches!(found, ReconcileOutcome::NotCommitted),
            list.says_absent,
            "{} {found:?}",
            list.call
        );
    }
}

#[tokio::test]
async fn of_what_cannot_be_looked_through_nothing_is_known() {
    for list in ALL {
        let (found, asked) = reconcile(list, |page| vec![other(page, 30)]).await;
        assert_eq!(asked, PAGES_MAX, "{}", list.call);
        assert!(matches!(found.unwrap(), ReconcileOutcome::Unknown), "{}", list.call);
    }
}
