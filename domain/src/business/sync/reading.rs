//! One reading of one profile.

use fanfare_entities::{
    Millis, account,
    business_media::{self, BusinessMediaStatus},
    business_profile::{self, Column},
    business_review,
};
use fanfare_platforms::{
    self as platforms, BusinessProfile, ProfileFacts, RemoteMedia, ReviewPage, Session,
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
use serde_json::json;

use super::{
    HOUR,
    facts::store_facts,
    store::{store_medium, store_review},
};
use crate::{
    Domain, Tx,
    background::Permits,
    error::Result,
    inbox::{factor, shortened},
};

/// The number of pages of reviews in the first reading, and in later ones.
const FIRST_PAGES: usize = 20;
const PAGES: usize = 2;

/// The number of calls to read a location's record.
const PROFILE_CALLS: usize = 3;
const REVIEW_MAX: Millis = 72 * HOUR;

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
        match self.profile().await {
            Ok(facts) => store_facts(self.cx, self.account.id, facts).await?,
            Err(error) => return Ok(Err(error)),
        }
        if let Err(error) = self.reviews().await? {
            return Ok(Err(error));
        }
        self.media().await
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
        for _ in 0..pages {
            let page = match self.reviews_page(next).await {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            told = (page.average_rating, page.total);
            let mut tx = Tx::begin(self.cx).await?;
            for review in page.page.items {
                store_review(&mut tx, self.account, review, (read_at, self.row.backfilled)).await?;
            }
            tx.commit().await?;
            next = page.page.next;
            if next.is_none() {
                whole = true;
                break;
            }
        }
        if whole {
            // Reviews that are not listed any more were deleted.
            business_review::Entity::delete_many()
                .filter(business_review::Column::AccountId.eq(self.account.id))
                .filter(business_review::Column::SeenAt.lt(read_at))
                .exec(&self.cx.db.write)
                .await?;
        }
        let change = business_profile::ActiveModel {
            average_rating: Set(told.0),
            total_reviews: Set(told.1),
            ..Default::default()
        };
        business_profile::Entity::update_many()
            .set(change)
            .filter(Column::Id.eq(self.row.id))
            .exec(&self.cx.db.write)
            .await?;
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
            let tx = Tx::begin(self.cx).await?;
            for medium in page.items {
                store_medium(&tx, self.account, medium, read_at).await?;
            }
            tx.commit().await?;
            next = page.next;
            if next.is_none() {
                whole = true;
                break;
            }
        }
        if whole {
            self.settle_media(read_at).await?;
        }
        Ok(Ok(()))
    }

    /// Marks live media that are not listed any more as gone, and rejects videos that were under review for too long.
    async fn settle_media(&self, read_at: Millis) -> Result<()> {
        use business_media::Column as Of;
        business_media::Entity::delete_many()
            .filter(Of::AccountId.eq(self.account.id))
            .filter(Of::Status.eq(BusinessMediaStatus::Live))
            .filter(Of::SeenAt.lt(read_at))
            .exec(&self.cx.db.write)
            .await?;
        let patience = shortened(REVIEW_MAX, factor(self.cx, self.account));
        let error = json!({"code": "content_refused", "message": "Google did not show it within 72 hours.", "retry_safe": true});
        let change = business_media::ActiveModel {
            status: Set(BusinessMediaStatus::Rejected),
            error: Set(Some(error)),
            ..Default::default()
        };
        business_media::Entity::update_many()
            .set(change)
            .filter(Of::AccountId.eq(self.account.id))
            .filter(Of::Status.eq(BusinessMediaStatus::InReview))
            .filter(Of::CreatedAt.lt(read_at - patience))
            .exec(&self.cx.db.write)
            .await?;
        Ok(())
    }
}
