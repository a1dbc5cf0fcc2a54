//! Who a post is shown to.

use fanfare_core::{Act, remedies::Rights};

/// The reader of a post: the calls that the post names are those that the reader may make.
#[derive(Debug, Clone)]
pub struct Reader {
    /// Origin under which the service is reached.
    pub(super) base_url: String,
    /// The rights of the reader; `None` if anybody may read it, as in an event.
    pub(super) rights: Option<Rights>,
}

impl Reader {
    /// Returns the caller of an action.
    #[must_use]
    pub fn of(act: &Act) -> Self {
        Self { base_url: act.cx.settings.base_url.clone(), rights: Some(Rights::of(act)) }
    }

    /// Returns a reader of whom nothing is known.
    #[must_use]
    pub fn anybody(base_url: &str) -> Self {
        Self { base_url: base_url.to_owned(), rights: None }
    }
}
