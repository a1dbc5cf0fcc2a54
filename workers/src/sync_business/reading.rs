//! One reading of one profile.

use fanfare_conversations::{Unread, business::sync, list_unread};
use fanfare_core::{Domain, Result};
use fanfare_entities::{account, business_profile};
use fanfare_platforms::{
    self as platforms, BusinessProfile, ProfileFacts, RemoteMedia, ReviewPage, Session,
    analytics::ends_all_readings,
};
use fanfare_publishing::background::Permits;

/// The number of pages of reviews in the first reading, and in later ones.
const FIRST_PAGES: usize = 20;
const PAGES: usize = 2;

/// The number of calls to read a location's record.
const PROFILE_CALLS: usize = 3;

pub(super) struct Reading<'a> {
    pub(super) cx: &'a Domain,
    pub(super) account: &'a account::Model,
    pub(super) business: &'static dyn BusinessProfile,
    pub(super) session: Session,
    pub(super) permits: Permits<'a>,
    pub(super) row: &'a business_profile::Model,
}

impl Reading<'_> {
    pub(super) async fn read_all(&self) -> Result<platforms::Result<()>> {
        // The record, the reviews and the media fail alone.
        let mut failed = None;
        match self.profile().await {
            Ok(facts) => sync::store_facts(self.cx, self.account.id, facts).await?,
            Err(error) if ends_all_readings(&error) => return Ok(Err(error)),
            Err(error) => failed = Some(error),
        }
        match self.reviews().await? {
            Err(error) if ends_all_readings(&error) => return Ok(Err(error)),
            read => failed = failed.or(read.err()),
        }
        let media = self.media().await?;
        Ok(failed.map_or(media, Err))
    }

    async fn profile(&self) -> platforms::Result<ProfileFacts> {
        for _ in 0..PROFILE_CALLS {
            self.permits.wait_for_permit().await?;
        }
        self.business.profile(&self.session).await
    }

    async fn reviews_page(&self, next: Option<String>) -> platforms::Result<ReviewPage> {
        self.permits.wait_for_permit().await?;
        self.business.reviews(&self.session, next).await
    }

    async fn media_page(
        &self,
        next: Option<String>,
    ) -> platforms::Result<platforms::ListPage<RemoteMedia>> {
        self.permits.wait_for_permit().await?;
        self.business.media(&self.session, next).await
    }

    async fn reviews(&self) -> Result<platforms::Result<()>> {
        let read_at = self.cx.clock.now();
        let pages = if self.row.backfilled { PAGES } else { FIRST_PAGES };
        let (mut next, mut whole, mut told) = (None, false, (None, None));
        let mut unread = 0;
        for _ in 0..pages {
            let page = match self.reviews_page(next).await {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            told = (page.average_rating, page.total);
            unread += page.unread;
            let when = (read_at, self.row.backfilled);
            sync::store_reviews(self.cx, self.account, page.page.items, when).await?;
            next = page.page.next;
            if next.is_none() {
                // A review that could not be read is not gone.
                whole = unread == 0;
                break;
            }
        }
        list_unread(self.cx, self.account, Unread::Reviews, unread).await?;
        sync::end_reviews(self.cx, self.row, told, whole.then_some(read_at)).await?;
        Ok(Ok(()))
    }

    async fn media(&self) -> Result<platforms::Result<()>> {
        let read_at = self.cx.clock.now();
        let (mut next, mut whole) = (None, false);
        for _ in 0..FIRST_PAGES {
            let page = match self.media_page(next).await {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            sync::store_media(self.cx, self.account, page.items, read_at).await?;
            next = page.next;
            if next.is_none() {
                whole = true;
                break;
            }
        }
        if whole {
            sync::settle_media(self.cx, self.account, read_at).await?;
        }
        Ok(Ok(()))
    }
}
