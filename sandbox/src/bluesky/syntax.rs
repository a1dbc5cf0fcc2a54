//! The identifiers of the AT protocol.

use chrono::DateTime;

/// Returns true if `text` is a handle: a host name of at least two labels.
pub(crate) fn is_handle(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    text.len() <= 253
        && text.contains('.')
        && text.split('.').all(label)
        && !text.ends_with(|c: char| c.is_ascii_digit())
}

/// Returns true if `text` names a kind of record or a method, such as `app.bsky.feed.post`.
pub(crate) fn is_nsid(text: &str) -> bool {
    let parts: Vec<_> = text.split('.').collect();
    let part = |p: &&str| {
        !p.is_empty() && p.len() <= 63 && p.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    text.len() <= 317 && parts.len() >= 3 && parts.iter().all(part)
}

/// Returns true if `text` is a valid record key.
pub(crate) fn is_record_key(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._:~-".contains(&b);
    (1..=512).contains(&text.len()) && text != "." && text != ".." && text.bytes().all(allowed)
}

const SORTABLE: &[u8] = b"234567abcdefghijklmnopqrstuvwxyz";

/// Returns true if `text` is a TID: 13 characters of sortable base 32, the top bit unset.
pub(crate) fn is_tid(text: &str) -> bool {
    text.len() == 13
        && text.as_bytes().first().is_some_and(|b| b"234567abcdefghij".contains(b))
        && text.bytes().all(|b| SORTABLE.contains(&b))
}

/// Returns the TID of a time in microseconds.
pub(crate) fn tid(us: u64) -> String {
    // 53 bits of time, and ten of a clock id that is always 0 here.
    spelled((us << 10) & (u64::MAX >> 1))
}

/// Returns the first TID after another.
pub(crate) fn tid_after(tid: &str) -> String {
    let digit = |byte| SORTABLE.iter().position(|one| *one == byte).unwrap_or(0) as u64;
    spelled(tid.bytes().fold(0, |bits, byte| bits << 5 | digit(byte)) + 1)
}

fn spelled(bits: u64) -> String {
    (0..13).rev().map(|n| char::from(SORTABLE[(bits >> (5 * n) & 31) as usize])).collect()
}

/// Returns true if `text` is a time in the format of records: RFC 3339 with a zone.
pub(crate) fn is_datetime(text: &str) -> bool {
    text.contains('T') && DateTime::parse_from_rfc3339(text).is_ok() && !text.ends_with("-00:00")
}

/// An `at://` address of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AtUri<'a> {
    /// A DID or handle.
    pub repo: &'a str,
    pub collection: &'a str,
    pub rkey: &'a str,
}

impl<'a> AtUri<'a> {
    /// Parses the address of a record.
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.strip_prefix("at://")?.split('/');
        let (repo, collection, rkey) = (parts.next()?, parts.next()?, parts.next()?);
        let known = (repo.starts_with("did:") || is_handle(repo))
            && is_nsid(collection)
            && is_record_key(rkey);
        (known && parts.next().is_none()).then_some(Self { repo, collection, rkey })
    }
}

#[cfg(test)]
mod tests {
    use super::{AtUri, is_datetime, is_handle, is_record_key, is_tid, tid, tid_after};

    #[test]
    fn identifiers() {
        assert!(
            is_handle("amber-badger.test")
                && !is_handle("amber")
                && !is_handle("-a.test")
                && !is_handle("a..test")
        );
        assert!(
            is_tid("3jzfcijpj2z2a")
                && !is_tid("3jzfcijpj2z2aa")
                && !is_tid("zzzzzzzzzzzzz")
                && !is_tid("3jzfcijpj2z21")
        );
        assert!(
            is_record_key("self")
                && is_record_key("a:b~c")
                && !is_record_key("..")
                && !is_record_key("a/b")
        );
        assert!(
            is_datetime("2026-11-21T10:00:00.000Z")
                && !is_datetime("2026-11-21T10:00:00")
                && !is_datetime("2026-11-21")
        );
    }

    #[test]
    fn tids_grow_with_time() {
        let (early, late) = (tid(1_700_000_000_000_000), tid(1_700_000_000_000_001));
        assert!(is_tid(&early) && is_tid(&late));
        assert!(early < late);
        let next = tid_after(&early);
        assert!(is_tid(&next) && early < next && next < late);
    }

    #[test]
    fn addresses() {
        let uri = AtUri::parse("at://did:plc:abc/app.bsky.feed.post/3jzfcijpj2z2a").unwrap();
        assert_eq!(
            (uri.repo, uri.collection, uri.rkey),
            ("did:plc:abc", "app.bsky.feed.post", "3jzfcijpj2z2a")
        );
        assert_eq!(AtUri::parse("https://bsky.app/x/y"), None);
    }
}
