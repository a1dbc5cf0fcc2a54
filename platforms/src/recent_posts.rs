//! Searches the recent entries of a list, page by page, for the result of a call whose answer was lost.

use chrono::{DateTime, TimeDelta, Utc};

use crate::{Candidate, Likeness, Listing, Progress, Result, Session, Spec};

/// The most by which the clocks of a network and of ours are expected to differ.
pub const CLOCK_SLACK: TimeDelta = TimeDelta::minutes(10);

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

/// Returns true if a call that began at `since` has long ended, and the network's lists show what it made.
pub fn is_past_lag(session: &Session, spec: &Spec, since: DateTime<Utc>) -> bool {
    session.now - since
        > TimeDelta::from_std(spec.commit_deadline + spec.list_lag).unwrap_or_default()
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

/// Entries that may be the result of the call.
#[derive(Debug)]
pub struct SearchResult<T> {
    /// They, and how well they match.
    pub found: Vec<(Likeness, T)>,
    /// True if every entry that the call may have created was seen. Only then does an empty result mean that there is
    /// none.
    pub is_whole: bool,
}

impl<T: Entry> SearchResult<T> {
    /// Keeps only what is certainly the result, if anything is.
    #[must_use]
    pub fn prefer(mut self, is_certain: impl Fn(&T) -> bool) -> Self {
        if self.found.iter().any(|(_, one)| is_certain(one)) {
            self.found.retain(|(_, one)| is_certain(one));
        }
        self
    }

    /// Takes nothing for the same unless the whole list was seen: what was not seen may be it.
    #[must_use]
    pub fn doubted_in_part(mut self) -> Self {
        if !self.is_whole {
            for (likeness, _) in &mut self.found {
                *likeness = Likeness::Similar.min(*likeness);
            }
        }
        self
    }

    /// Returns what was found, each with its id and with what follows if it is the result.
    ///
    /// # Errors
    /// That of `result`.
    pub fn listing(self, result: impl Fn(T) -> Result<(String, Progress)>) -> Result<Listing> {
        let candidate = |(likeness, one): (Likeness, T)| {
            let created_at = one.created_at()?;
            let made = result(one);
            Some(made.map(|(id, progress)| {
                let is_same = likeness == Likeness::Same;
                Candidate { id, created_at, is_same, progress }
            }))
        };
        let candidates = self.found.into_iter().filter_map(candidate).collect::<Result<_>>()?;
        Ok(Listing { candidates, is_whole: self.is_whole })
    }
}

/// Requests page after page until even the newest entry of one is older than `since` by more than clocks may differ, or
/// the list ends. `likeness` says how well an entry matches. Older entries are listed too: only the caller can tell
/// what the network's clock showed at the call.
///
/// # Errors
/// The network's error.
pub async fn search<T, F>(
    since: DateTime<Utc>,
    likeness: impl Fn(&T) -> Likeness,
    mut ask: impl FnMut(Option<String>) -> F,
) -> Result<SearchResult<T>>
where
    T: Entry,
    F: Future<Output = Result<ListPage<T>>>,
{
    let since = since - CLOCK_SLACK;
    let fits = |one: T| {
        let is_recent = one.created_at().is_some_and(|at| at >= since);
        let likeness = if is_recent { likeness(&one) } else { Likeness::Different };
        (likeness != Likeness::Different).then_some((likeness, one))
    };
    let (mut found, mut next, mut is_whole) = (Vec::new(), None, false);
    for _ in 0..PAGES_MAX {
        let page = ask(next).await?;
        let newest = page.items.iter().filter_map(Entry::sort_time).max();
        let is_over = page.next.is_none() || newest.is_some_and(|at| at < since);
        found.extend(page.items.into_iter().filter_map(fits));
        if is_over {
            is_whole = true;
            break;
        }
        next = page.next;
    }
    Ok(SearchResult { found, is_whole })
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::ready};

    use chrono::{DateTime, Utc};

    use super::{Entry, ListPage, PAGES_MAX, SearchResult, page_number, search};
    use crate::{Likeness, tests::test_server::at};

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
            |one: &One| match one.0 {
                "it" => Likeness::Same,
                "its like" => Likeness::Similar,
                _ => Likeness::Different,
            },
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
    const OLD: One = One("other", Some(-601));
    const EARLIER: One = One("it", Some(-601));

    #[tokio::test]
    async fn pages_are_read_until_one_is_older_than_the_call() {
        let it = One("it", Some(-599));
        let (looked, asked) =
            looked(&[vec![NEW], vec![NEW, it], vec![OLD, EARLIER], vec![it]]).await;
        assert_eq!((looked.found, asked), (vec![(Likeness::Same, it)], 3));
        assert!(looked.is_whole);
    }

    #[tokio::test]
    async fn an_old_entry_in_front_and_entries_without_a_time_end_nothing() {
        let (it, draft) = (One("its like", Some(1)), One("it", None));
        let (looked, asked) = looked(&[vec![draft], vec![], vec![OLD, NEW], vec![it]]).await;
        assert_eq!((looked.found, asked), (vec![(Likeness::Similar, it)], 4));
    }

    #[tokio::test]
    async fn all_that_fit_are_listed() {
        let (late, early) = (One("it", Some(60)), One("it", Some(2)));
        let (looked, _) = looked(&[vec![late], vec![early, OLD]]).await;
        let found: Vec<_> = looked.found.into_iter().map(|(_, one)| one).collect();
        assert_eq!(found, [late, early]);
    }

    #[tokio::test]
    async fn only_what_was_seen_whole_is_absent() {
        let (whole, asked) = looked(&vec![vec![NEW]; PAGES_MAX]).await;
        assert_eq!((whole.found.len(), whole.is_whole, asked), (0, true, PAGES_MAX));
        let (part, asked) = looked(&vec![vec![NEW]; PAGES_MAX + 1]).await;
        assert_eq!((part.found.len(), part.is_whole, asked), (0, false, PAGES_MAX));
    }

    #[test]
    fn a_counted_list_ends_with_an_empty_page() {
        assert_eq!(ListPage::until_empty(vec![1], 2).next.as_deref(), Some("2"));
        assert_eq!(ListPage::until_empty(Vec::<u8>::new(), 2).next, None);
        assert_eq!(ListPage::with_next(vec![1], Some(String::new())).next, None);
        assert_eq!((page_number(None, 1), page_number(Some("7"), 1)), (1, 7));
    }
}
