use crate::{Job, JobKind};

/// Publish one post to its account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublishPost {
    /// The post's row.
    pub post_id: i64,
}

impl Job for PublishPost {
    const KIND: JobKind = JobKind::PublishPost;

    fn from_id(id: i64) -> Self {
        Self { post_id: id }
    }

    fn id(&self) -> i64 {
        self.post_id
    }
}
