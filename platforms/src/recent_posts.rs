//! Searches the recent entries of a list, page by page, for the result of a call whose answer was lost.

use chrono::{DateTime, Utc};

use crate::{Error, Kind, Result, response::is_since};

/// Most pages of a list that are asked for. What an account has posted since the call is on the first of them; one that
/// has filled them all is told that nothing is known, and not that nothing is there.
pub const PAGES_MAX: usize = 20;

/// An entry of a list.
pub trait Entry {
    /// Returns the time at which it was made, if it tells.
    fn made(&self) -> Option<DateTime<Utc>>;

    /// The time by which the list is ordered, the latest first. `None`: the list is not ordered by a time that the entry
    /// tells, and is read to its end.
    fn place(&self) -> Option<DateTime<Utc>> {
        self.made()
    }
}

/// One page of a list.
#[derive(Debug)]
pub struct Page<T> {
    /// Its entries.
    pub items: Vec<T>,
    /// The name of the next page; `None` on the last.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// A page that tells what names the next; an empty text names none.
    pub fn naming(items: Vec<T>, next: Option<String>) -> Self {
        Self { items, next: next.filter(|next| !next.is_empty()) }
    }

    /// A page of a list that does not tell its end: it is over where a page is empty, since a page may be short for other
    /// reasons.
    pub fn unless_empty(items: Vec<T>, next: impl ToString) -> Self {
        let next = (!items.is_empty()).then(|| next.to_string());
        Self { items, next }
    }
}

/// The number that names a page of a counted list; `first` for the first.
pub fn number(next: Option<&str>, first: usize) -> usize {
    next.and_then(|next| next.parse().ok()).unwrap_or(first)
}

/// The result of a search.
#[derive(Debug)]
pub struct Looked<T> {
    /// The matching entries, those made nearest to the call first.
    pub found: Vec<T>,
    /// True if everything was seen that may have come of the call. Only then is what was not found not there.
    pub end: Result<()>,
}

impl<T> Looked<T> {
    /// Returns the best match.
    ///
    /// # Errors
    /// [`Kind::Ambiguous`] when nothing was found and not everything was seen.
    pub fn nearest(self) -> Result<Option<T>> {
        match self.found.into_iter().next() {
            Some(nearest) => Ok(Some(nearest)),
            None => self.end.map(|()| None),
        }
    }
}

/// Asks for page after page until even the newest entry of one is older than `since` (a network's clock may be behind
/// ours), or the list ends. `is_it` says what fits; `ask` is given what names the page, nothing for the first.
///
/// # Errors
/// The errors of the network.
pub async fn look<T, F>(
    since: DateTime<Utc>,
    is_it: impl Fn(&T) -> bool,
    mut ask: impl FnMut(Option<String>) -> F,
) -> Result<Looked<T>>
where
    T: Entry,
    F: Future<Output = Result<Page<T>>>,
{
    let fits = |one: &T| one.made().is_some_and(|at| is_since(at, since)) && is_it(one);
    let (mut found, mut next, mut end) = (Vec::new(), None, Err(too_long()));
    for _ in 0..PAGES_MAX {
        let page = ask(next).await?;
        let newest = page.items.iter().filter_map(Entry::place).max();
        let is_over = page.next.is_none() || newest.is_some_and(|at| !is_since(at, since));
        found.extend(page.items.into_iter().filter(fits));
        if is_over {
            end = Ok(());
            break;
        }
        next = page.next;
    }
    found.sort_by_key(|one| one.made().map(|at| (at - since).abs()));
    Ok(Looked { found, end })
}

fn too_long() -> Error {
    let message = "Too much was posted since the call to search all of it.";
    Error::new(Kind::Ambiguous, message)
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::ready};

    use chrono::{DateTime, Utc};

    use super::{Entry, Looked, PAGES_MAX, Page, look, number};
    use crate::{Kind, tests::test_server::at};

    /// A name and, if it tells one, a time in seconds after the call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct One(&'static str, Option<i64>);

    impl Entry for One {
        fn made(&self) -> Option<DateTime<Utc>> {
            self.1.map(at)
        }
    }

    /// Looks for `it` in these pages; also answers how many of them were asked for.
    async fn looked(pages: &[Vec<One>]) -> (Looked<One>, usize) {
        let asked = Cell::new(0);
        let looked = look(
            at(0),
            |one: &One| one.0 == "it",
            |next| {
                asked.set(asked.get() + 1);
                let index = number(next.as_deref(), 0);
                let next = (index + 1 < pages.len()).then(|| (index + 1).to_string());
                ready(Ok(Page::naming(pages[index].clone(), next)))
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
        assert_eq!(part.nearest().unwrap_err().kind, Kind::Ambiguous);
        let it = One("it", Some(1));
        let (there, _) = looked(&vec![vec![it]; PAGES_MAX + 1]).await;
        assert_eq!(there.nearest().unwrap(), Some(it));
    }

    #[test]
    fn a_counted_list_ends_with_an_empty_page() {
        assert_eq!(Page::unless_empty(vec![1], 2).next.as_deref(), Some("2"));
        assert_eq!(Page::unless_empty(Vec::<u8>::new(), 2).next, None);
        assert_eq!(Page::naming(vec![1], Some(String::new())).next, None);
        assert_eq!((number(None, 1), number(Some("7"), 1)), (1, 7));
    }
}
