//! Cuts requests and replies at every byte in turn.

use std::{
    collections::{BTreeSet, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

use super::Cut;

/// The state of cutting a request and its reply at every byte, one call for each byte.
pub(super) struct Walk {
    /// Words of the request lines of calls.
    calls: Vec<String>,
    /// Requests that were cut.
    seen: HashSet<u64>,
    /// Bytes of the request after which the next one is cut.
    of_request: usize,
    /// The length of the request, once a cut after its end was due.
    request_len: Option<usize>,
    /// Bytes of the reply after which the next one is cut.
    of_answer: usize,
    /// Positions at which an error reply was cut, to be cut again in a successful one.
    again: Vec<usize>,
    /// Positions at which a successful reply was cut, and the length of the longest one.
    cut_at: BTreeSet<usize>,
    answer_len: usize,
}

impl Walk {
    pub(super) fn over(calls: Vec<String>) -> Self {
        Self {
            calls,
            seen: HashSet::new(),
            of_request: 0,
            request_len: None,
            of_answer: 0,
            again: Vec::new(),
            cut_at: BTreeSet::new(),
            answer_len: 0,
        }
    }

    /// Returns the point at which this request is cut, if it is.
    pub(super) fn next(&mut self, line: &str, request: &[u8]) -> Option<Cut> {
        let meets = |call: &String| call.split(' ').all(|word| line.contains(word));
        if self.end().is_some() || !self.calls.iter().any(meets) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        request.hash(&mut hasher);
        if !self.seen.insert(hasher.finish()) {
            return None;
        }
        if self.request_len.is_none() && self.of_request < request.len() {
            self.of_request += 1;
            return Some(Cut::After(self.of_request - 1));
        }
        self.request_len.get_or_insert(request.len());
        if let Some(place) = self.again.pop() {
            return Some(Cut::Answer(place));
        }
        self.of_answer += 1;
        Some(Cut::Answer(self.of_answer - 1))
    }

    /// Records the length of a reply that was cut.
    pub(super) fn answered(&mut self, cut: Cut, answer: &[u8]) {
        let Cut::Answer(place) = cut else { return };
        if !answer.starts_with(b"HTTP/1.1 2") {
            return self.again.push(place);
        }
        self.cut_at.insert(place);
        self.answer_len = self.answer_len.max(answer.len());
    }

    /// Returns the number of bytes of request and reply, once each was cut.
    pub(super) fn end(&self) -> Option<(usize, usize)> {
        let len = self.answer_len;
        let is_over = len > 0 && self.cut_at.range(..len).count() == len;
        is_over.then_some((self.request_len?, len))
    }
}
