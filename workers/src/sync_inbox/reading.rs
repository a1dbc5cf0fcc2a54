//! One reading of one account's inbox.

use std::sync::atomic::{AtomicUsize, Ordering};

use fanfare_conversations::{Unread, inbox::sync, list_unread};
use fanfare_core::{Domain, Result};
use fanfare_entities::{Millis, account, inbox_sync};
use fanfare_platforms::{
    self as platforms, Inbox, InboxPage, RemoteComment, RemoteMessage, RemotePost, Session,
    analytics::{ends_all_readings, is_refusal, is_trouble},
};
use fanfare_publishing::background::Permits;

use super::HOUR;

/// The number of pages of conversations in the first reading.
const FIRST_PAGES: usize = 4;

/// The number of posts whose comments are read, and their maximum age.
const POSTS: usize = 50;
const POST_AGE: Millis = 30 * 24 * HOUR;

/// The most pages of comments that are read for a post.
const COMMENT_PAGES: usize = 5;

/// The most comments of a post that are requested one by one in a reading.
const MAX_ASKED: usize = 20;

/// The number of posts in a row for which the network fails that ends a reading.
const TROUBLES_MAX: u32 = 3;

/// A page of a network's list.
type PageOf<T> = platforms::Result<InboxPage<T>>;

/// One reading of one account.
pub(super) struct Reading<'a> {
    pub(super) cx: &'a Domain,
    pub(super) account: &'a account::Model,
    pub(super) inbox: &'static dyn Inbox,
    pub(super) session: Session,
    pub(super) permits: Permits<'a>,
    pub(super) row: &'a inbox_sync::Model,
    /// The number of items that could not be read.
    pub(super) unread: AtomicUsize,
}

impl Reading<'_> {
    /// Subscribes to webhooks and reads everything. Returns whether something arrived within a day.
    pub(super) async fn read_all(&self) -> Result<(bool, platforms::Result<bool>)> {
        let mut subscribed = self.row.subscribed_at.is_some();
        if !subscribed {
            match self.subscribe().await {
                Ok(()) => subscribed = true,
                Err(error) if error.kind.is_refusal_of_the_account() => {}
                Err(error) => return Ok((false, Err(error))),
            }
        }
        // Messages and comments fail alone.
        let messages = match self.messages().await? {
            Err(error) if ends_all_readings(&error) => return Ok((subscribed, Err(error))),
            messages => messages,
        };
        let comments = self.comments().await?;
        let unread = self.unread.load(Ordering::Relaxed);
        list_unread(self.cx, self.account, Unread::Inbox, unread).await?;
        Ok((subscribed, comments.and_then(|busy| Ok(messages? || busy))))
    }

    async fn subscribe(&self) -> platforms::Result<()> {
        self.permits.wait_for_permit().await?;
        self.inbox.subscribe(&self.session).await
    }

    async fn conversations(&self, next: Option<String>) -> PageOf<Vec<RemoteMessage>> {
        self.permits.wait_for_permit().await?;
        self.inbox.conversations(&self.session, next).await
    }

    async fn recent_posts(&self) -> PageOf<RemotePost> {
        self.permits.wait_for_permit().await?;
        self.inbox.recent_posts(&self.session).await
    }

    async fn comments_page(&self, post: &str, next: Option<String>) -> PageOf<RemoteComment> {
        self.permits.wait_for_permit().await?;
        self.inbox.comments(&self.session, post, next).await
    }

    /// Counts the items of a page that could not be read.
    fn note_unread<T>(&self, page: &InboxPage<T>) {
        self.unread.fetch_add(page.unread.len(), Ordering::Relaxed);
    }

    fn is_recent(&self, at: Millis) -> bool {
        self.cx.clock.now() - at < 24 * HOUR
    }

    async fn messages(&self) -> Result<platforms::Result<bool>> {
        if !self.inbox.rules().messages {
            return Ok(Ok(false));
        }
        let pages = if self.row.backfilled { 1 } else { FIRST_PAGES };
        let (mut next, mut busy) = (None, false);
        for _ in 0..pages {
            let page = match self.conversations(next).await {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            self.note_unread(&page);
            for messages in page.page.items {
                busy |= messages
                    .iter()
                    .any(|one| !one.out && self.is_recent(one.at.timestamp_millis()));
                let live = self.row.backfilled;
                sync::store_messages(self.cx, self.account, messages, live).await?;
            }
            next = page.page.next;
            if next.is_none() {
                break;
            }
        }
        Ok(Ok(busy))
    }

    async fn comments(&self) -> Result<platforms::Result<bool>> {
        let posts = match self.recent_posts().await {
            Ok(posts) => posts,
            Err(error) => return Ok(Err(error)),
        };
        self.note_unread(&posts);
        let since = self.cx.clock.now() - POST_AGE;
        let recent =
            posts.page.items.into_iter().filter(|post| post.at.timestamp_millis() >= since);
        let (mut busy, mut read, mut troubles, mut failed) = (false, 0_usize, 0, None);
        for post in recent.take(POSTS) {
            match self.comments_of(&post.id).await? {
                Ok(of_post) => {
                    busy |= of_post;
                    (read, troubles) = (read + 1, 0);
                }
                Err(error) if ends_all_readings(&error) => return Ok(Err(error)),
                // It is about this post alone, unless the network fails for several.
                Err(error) => {
                    tracing::debug!(kind = ?error.kind, %error, "comments of a post were not read");
                    troubles = if is_trouble(&error) { troubles + 1 } else { 0 };
                    failed = Some(error);
                    if troubles == TROUBLES_MAX {
                        break;
                    }
                }
            }
        }
        Ok(match failed {
            Some(error) if read == 0 || troubles == TROUBLES_MAX => Err(error),
            _ => Ok(busy),
        })
    }

    async fn comments_of(&self, post: &str) -> Result<platforms::Result<bool>> {
        let read_at = self.cx.clock.now();
        let (mut next, mut all, mut whole) = (None, Vec::new(), false);
        let mut unread = Vec::new();
        for _ in 0..COMMENT_PAGES {
            let page = match self.comments_page(post, next).await {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            self.note_unread(&page);
            all.extend(page.page.items);
            unread.extend(page.unread);
            next = page.page.next;
            if next.is_none() {
                whole = true;
                break;
            }
        }
        let busy = all.iter().any(|one| !one.own && self.is_recent(one.at.timestamp_millis()));
        // What could not be read is there; without an id it may be any.
        let whole = whole && !unread.iter().any(String::is_empty);
        let listed: Vec<_> = all.iter().map(|one| &one.id).chain(&unread).collect();
        let unlisted = match self.check_unlisted(post, &listed, read_at, whole).await? {
            Ok(unlisted) => unlisted,
            Err(error) => return Ok(Err(error)),
        };
        let when = (read_at, self.row.backfilled);
        sync::store_comments(self.cx, self.account, (all, unlisted), when).await?;
        Ok(Ok(busy))
    }

    /// Reads the state of one comment.
    async fn ask_comment(&self, id: &str) -> platforms::Result<Option<bool>> {
        self.permits.wait_for_permit().await?;
        self.inbox.unlisted_comment(&self.session, id).await
    }

    /// Finds out the state of comments that are not listed any more: each was hidden, shown or deleted.
    async fn check_unlisted(
        &self,
        post: &str,
        listed: &[&String],
        read_at: Millis,
        whole: bool,
    ) -> Result<platforms::Result<Vec<(String, Option<bool>)>>> {
        let mut found = Vec::new();
        if !whole {
            return Ok(Ok(found));
        }
        let mut missing = sync::known_comments(self.cx, self.account.id, post, read_at).await?;
        missing.retain(|id| !listed.contains(&id));
        if !self.inbox.rules().hidden_are_unlisted {
            return Ok(Ok(missing.into_iter().map(|id| (id, None)).collect()));
        }
        for id in missing.into_iter().take(MAX_ASKED) {
            match self.ask_comment(&id).await {
                Ok(hidden) => found.push((id, hidden)),
                Err(error) if is_refusal(&error) => {
                    tracing::debug!(kind = ?error.kind, %error, "a comment was not read");
                }
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(found))
    }
}
