//! Searches the recent entries of a list, page by page, for the result of a call whose answer was lost.

use chrono::{DateTime, Utc};

use crate::{Error, ErrorKind, Result, response::is_after_call};

/// The most pages of a list that are requested. They usually hold everything that an account has posted since the call;
/// if not, the result is unknown, not "not found".
pub const PAGES_MAX: usize = 20;

/// An entry of a list.
pub trait Entry {
    /// Returns when it was created, if known.
    fn created_at(&self) -> Option<DateTime<Utc>>;

    /// Returns the time by which the list is sorted, latest first. `None`: the list is not sorted by a time in the
    /// entries, and is read to its end.
    fn sort_time(&self) -> Option<DateTime<Utc>> {
        self.created_at()
    }
}

/// One page of a list.
#[derive(Debug)]
pub struct ListPage<T> {
    /// Its entries.
    pub items: Vec<T>,
    /// The cursor of the next page; `None` on the last.
    pub next: Option<String>,
}

impl<T> ListPage<T> {
    /// Creates a page with the cursor of the next one; an empty cursor counts as none.
    pub fn with_next(items: Vec<T>, next: Option<String>) -> Self {
        Self { items, next: next.filter(|next| !next.is_empty()) }
    }

    /// Creates a page of a list that does not mark its end: it ends with an empty page, since a page may be short for
    /// other reasons.
    pub fn until_empty(items: Vec<T>, next: impl ToString) -> Self {
        let next = (!items.is_empty()).then(|| next.to_string());
        Self { items, next }
    }
}

/// Parses the cursor of a list with numbered pages; `first` is the number of the first page.
pub fn page_number(next: Option<&str>, first: usize) -> usize {
    next.and_then(|next| next.parse().ok()).unwrap_or(first)
}

/// The result of a search.
#[derive(Debug)]
pub struct SearchResult<T> {
    /// The matching entries, the ones created closest to the call first.
    pub found: Vec<T>,
    /// `Ok` if every entry that the call may have created was seen. Only then does an empty result mean that there is
    /// none.
    pub completeness: Result<()>,
}

impl<T> SearchResult<T> {
    /// Returns the best match.
    ///
    /// # Errors
    /// [`ErrorKind::Ambiguous`] when nothing was found and not everything could be searched.
    pub fn nearest(self) -> Result<Option<T>> {
        match self.found.into_iter().next() {
            Some(nearest) => Ok(Some(nearest)),
            None => self.completeness.map(|()| None),
        }
    }
}

/// Requests page after page until even the newest entry of one is older than `since` (minus a clock skew), or the list
/// ends. `is_it` decides what matches; `ask` gets the cursor of the page, `None` for the first.
///
/// # Errors
/// The network's error.
pub async fn search<T, F>(
    since: DateTime<Utc>,
    is_it: impl Fn(&T) -> bool,
    mut ask: impl FnMut(Option<String>) -> F,
) -> Result<SearchResult<T>>
where
    T: Entry,
    F: Future<Output = Result<ListPage<T>>>,
{
    let fits = |one: &T| one.created_at().is_some_and(|at| is_after_call(at, since)) && is_it(one);
    let (mut found, mut next, mut end) = (Vec::new(), None, Err(search_incomplete()));
    for _ in 0..PAGES_MAX {
        let page = ask(next).await?;
        let newest = page.items.iter().filter_map(Entry::sort_time).max();
        let is_over = page.next.is_none() || newest.is_some_and(|at| !is_after_call(at, since));
        found.extend(page.items.into_iter().filter(fits));
        if is_over {
            end = Ok(());
            break;
        }
        next = page.next;
    }
    found.sort_by_key(|one| one.created_at().map(|at| (at - since).abs()));
    Ok(SearchResult { found, completeness: end })
}

fn search_incomplete() -> Error {
    let message = "Too much was posted since the call to search all of it.";
    Error::new(ErrorKind::Ambiguous, message)
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::ready};

    use chrono::{DateTime, Utc};

    use super::{Entry, ListPage, PAGES_MAX, SearchResult, page_number, search};
    use crate::{ErrorKind, tests::test_server::at};

    /// A name and an optional time, in seconds after the call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct One(&'static str, Option<i64>);

    impl Entry for One {
        fn created_at(&self) -> Option<DateTime<Utc>> {
            self.1.map(at)
        }
    }

    /// Looks for `it` in these pages; also answers how many of them were asked for.
    async fn looked(pages: &[Vec<One>]) -> (SearchResult<One>, usize) {
        let asked = Cell::new(0);
        let looked = search(
            at(0),
            |one: &One| one.0 == "it",
            |next| {
                asked.set(asked.get() + 1);
                let index = page_number(next.as_deref(), 0);
                let next = (index + 1 < pages.len()).then(|| (index + 1).to_string());
                ready(Ok(ListPage::with_next(pages[index].clone(), next)))
            },
        );
        (looked.await.unwrap(), asked.get())
    }

    const NEW: One = One("other", Some(9));
    const OLD: One = One("other", Some(-121));
    const EARLIER: One = One("it", Some(-121));

    #[tokio::test]
    async fn pages_are_read_until_one_is_older_than_the_call() {
        let it = One("it", Some(-119));
        let (looked, asked) =
            looked(&[vec![NEW], vec![NEW, it], vec![OLD, EARLIER], vec![it]]).await;
        assert_eq!((looked.nearest().unwrap(), asked), (Some(it), 3));
    }

    #[tokio::test]
    async fn an_old_entry_in_front_and_entries_without_a_time_end_nothing() {
        let (it, draft) = (One("it", Some(1)), One("it", None));
        let (looked, asked) = looked(&[vec![draft], vec![], vec![OLD, NEW], vec![it]]).await;
        assert_eq!((looked.nearest().unwrap(), asked), (Some(it), 4));
    }

    #[tokio::test]
    async fn of_several_the_one_made_nearest_to_the_call_is_meant() {
        let (late, early) = (One("it", Some(60)), One("it", Some(2)));
        let (looked, _) = looked(&[vec![late], vec![early, OLD]]).await;
        assert_eq!(looked.found, [late, early].into_iter().rev().collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn only_what_was_seen_whole_is_absent() {
        let (whole, asked) = looked(&vec![vec![NEW]; PAGES_MAX]).await;
        assert_eq!((whole.nearest().unwrap(), asked), (None, PAGES_MAX));
        let (part, asked) = looked(&vec![vec![NEW]; PAGES_MAX + 1]).await;
        assert_eq!(asked, PAGES_MAX);
        assert_eq!(part.nearest().unwrap_err().kind, ErrorKind::Ambiguous);
        let it = One("it", Some(1));
        let (there, _) = looked(&vec![vec![it]; PAGES_MAX + 1]).await;
        assert_eq!(there.nearest().unwrap(), Some(it));
    }

    #[test]
    fn a_counted_list_ends_with_an_empty_page() {
        assert_eq!(ListPage::until_empty(vec![1], 2).next.as_deref(), Some("2"));
        assert_eq!(ListPage::until_empty(Vec::<u8>::new(), 2).next, None);
        assert_eq!(ListPage::with_next(vec![1], Some(String::new())).next, None);
        assert_eq!((page_number(None, 1), page_number(Some("7"), 1)), (1, 7));
    }
}
