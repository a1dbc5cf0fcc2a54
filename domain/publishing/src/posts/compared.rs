//! A new post, compared with the other posts of its account.

use fanfare_core::{
    Act,
    error::{Result, refusal::SimilarPost},
};
use fanfare_entities::{Millis, account, post};
use fanfare_platforms::{PlatformId, Warning};

use super::{
    draft::Content,
    duplicates::{self, Guard, Place, Print},
    media_of, warnings,
    write_once::Once,
};

/// A new post as it is compared with others.
pub(super) struct Compared {
    pub platform: PlatformId,
    pub guard: Guard,
    pub place: Place,
    pub print: Print,
    /// True unless it is a draft without a time.
    pub has_time: bool,
    has_remote_files: bool,
}

impl Compared {
    /// Returns what is compared of a post with this content at this time; without one it is compared as of now.
    pub async fn of(
        act: &Act,
        account: &account::Model,
        (content, at): (&Content, Option<Millis>),
        guard: Guard,
    ) -> Result<Self> {
        let has_time = at.is_some();
        let at = at.unwrap_or_else(|| act.cx.clock.now());
        Ok(Self {
            has_time,
            platform: crate::platforms::from_row(&account.platform)?,
            guard,
            place: Place::new(&act.membership, account.id, at),
            print: Print::of(&act.cx.db.read, &content.caption, &content.media).await?,
            has_remote_files: content.media.iter().any(|file| file.path.is_none()),
        })
    }

    /// Goes on with the files that were copied for the row: they are compared by their bytes.
    pub async fn follow_copies(&mut self, act: &Act, row: &post::Model) -> Result<()> {
        if self.has_remote_files {
            self.print = Print::of(&act.cx.db.read, &row.caption, &media_of(row)?).await?;
        }
        Ok(())
    }

    /// Returns what the writer has to know of a post that must not repeat another one.
    pub fn once(&self) -> Option<Once> {
        let is_guarded = self.guard == Guard::Refuse;
        is_guarded.then(|| Once { place: self.place.clone(), print: self.print.clone() })
    }

    /// Returns the posts of the account that are like this one.
    pub async fn similar(&self, act: &Act) -> Result<Vec<SimilarPost>> {
        duplicates::find(&act.cx.db.read, &self.place, &self.print).await
    }

    /// Returns the posts of the account that are like this one, unless it is refused because of them.
    pub async fn allowed(&self, act: &Act) -> Result<Vec<SimilarPost>> {
        let similar = self.similar(act).await?;
        if self.guard == Guard::Refuse {
            duplicates::refuse(&similar)?;
        }
        Ok(similar)
    }

    /// Returns the warnings about a post on this account, which is like these posts.
    pub fn warnings(
        &self,
        act: &Act,
        account: &account::Model,
        similar: &[SimilarPost],
    ) -> Vec<Warning> {
        let of_similar =
            duplicates::warnings(act, self.platform, (&self.print, self.place.at), similar);
        warnings::reconnect(act, account).into_iter().chain(of_similar).collect()
    }
}
