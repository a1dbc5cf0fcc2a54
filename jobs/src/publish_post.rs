use crate::{Job, Kind, Taken};

/// Publish one post to its account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublishPost {
    /// The post's row.
    pub post_id: i64,
    /// Its workspace has had next to nothing lately: it need not go with the groups of those who had.
    pub first: bool,
}

impl Job for PublishPost {
    const KIND: Kind = Kind::PublishPost;

    fn from_id(id: i64) -> Self {
        Self { post_id: id, first: false }
    }

    fn of(taken: &Taken) -> Self {
        Self { first: taken.is_first(), ..Self::from_id(taken.id()) }
    }

    fn id(&self) -> i64 {
        self.post_id
    }
}
