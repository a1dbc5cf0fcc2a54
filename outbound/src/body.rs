//! The body of a request, which records whether its last part was handed to the connection.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::piece::{BodyError, BodyPart, MAX_FRAME};

const UNSENT: u8 = 0;
const HANDED_OVER: u8 = 1;
const WITHDRAWN: u8 = 2;

/// Records whether the end of a request was handed over or withdrawn. The first of the two wins and is final.
#[derive(Debug, Default)]
struct Handover(AtomicU8);

impl Handover {
    /// Sets the outcome if there is none yet. Returns true if the outcome is now `state`.
    fn settle(&self, state: u8) -> bool {
        match self.0.compare_exchange(UNSENT, state, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            Err(settled) => settled == state,
        }
    }

    fn is_withdrawn(&self) -> bool {
        self.0.load(Ordering::Acquire) == WITHDRAWN
    }
}

/// The caller's handle to a request in flight. Dropping it withdraws the part that is not handed over yet, so that a
/// request whose future was dropped is not completed in the background.
#[derive(Debug)]
pub(crate) struct RequestGuard(Arc<Handover>);

impl RequestGuard {
    /// Withdraws the request. Returns true if the server cannot have received all of it and never will, and false if
    /// its
    /// end was already handed to the connection.
    pub fn withdraw(&self) -> bool {
        self.0.settle(WITHDRAWN)
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.withdraw();
    }
}

/// A request body of known length. An empty body counts as handed over when the connection asks for it.
#[derive(Debug)]
pub(crate) struct RequestBody {
    pieces: VecDeque<BodyPart>,
    left: u64,
    empty: bool,
    /// True if an empty body is announced with `Content-Length: 0`, which servers require for a POST.
    announce: bool,
    handover: Arc<Handover>,
}

impl RequestBody {
    pub fn new(pieces: Vec<BodyPart>, announce: bool) -> (Self, RequestGuard) {
        let handover = Arc::new(Handover::default());
        let left = pieces.iter().map(BodyPart::size).sum::<u64>();
        let pieces = merge_small_parts(pieces, left);
        let body = Self { pieces, left, empty: left == 0, announce, handover: handover.clone() };
        (body, RequestGuard(handover))
    }

    /// Returns the next frame. A file is read only as fast as the connection accepts it.
    fn next_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        loop {
            let Some(first) = self.pieces.front_mut() else { return Poll::Ready(None) };
            let (frame, is_over) = match first {
                BodyPart::Bytes(bytes) if bytes.len() > MAX_FRAME => {
                    (bytes.split_to(MAX_FRAME), false)
                }
                BodyPart::Bytes(bytes) => (std::mem::take(bytes), true),
                BodyPart::File(file) => match ready!(file.next_frame(cx)) {
                    Ok(frame) => (frame, file.left == 0),
                    Err(unread) => return Poll::Ready(Some(Err(unread))),
                },
            };
            if is_over {
                self.pieces.pop_front();
            }
            if !frame.is_empty() {
                return Poll::Ready(Some(Ok(frame)));
            }
        }
    }
}

/// Merges adjacent small parts into one frame.
fn merge_small_parts(pieces: Vec<BodyPart>, size: u64) -> VecDeque<BodyPart> {
    let small = usize::try_from(size).is_ok_and(|size| size <= MAX_FRAME) && pieces.len() > 1;
    let bytes: Option<Vec<&Bytes>> = pieces
        .iter()
        .map(|piece| if let BodyPart::Bytes(bytes) = piece { Some(bytes) } else { None })
        .collect();
    match bytes {
        Some(bytes) if small => {
            let whole: Vec<u8> = bytes.iter().flat_map(|bytes| bytes.iter().copied()).collect();
            VecDeque::from([BodyPart::Bytes(whole.into())])
        }
        _ => pieces.into_iter().filter(|piece| piece.size() > 0).collect(),
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.handover.is_withdrawn() {
            return Poll::Ready(Some(Err(BodyError::Withdrawn)));
        }
        let frame = match ready!(self.next_frame(cx)) {
            Some(Ok(frame)) => frame,
            Some(Err(unread)) => return Poll::Ready(Some(Err(unread))),
            None => return Poll::Ready(None),
        };
        self.left -= frame.len() as u64;
        if self.left == 0 && !self.handover.settle(HANDED_OVER) {
            return Poll::Ready(Some(Err(BodyError::Withdrawn)));
        }
        Poll::Ready(Some(Ok(Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        if self.empty {
            // The first call comes from the connection that is about to write the head.
            let handed = self.handover.settle(HANDED_OVER);
            return handed && !self.announce;
        }
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        // A connection that still processes a withdrawn request without a body must not take it for complete.
        let missing = u64::from(self.empty && self.handover.is_withdrawn());
        SizeHint::with_exact(self.left + missing)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        task::{Context, Poll, Waker},
    };

    use bytes::Bytes;
    use http_body::Body as _;

    use futures_util::{StreamExt, stream};

    use super::RequestBody;
    use crate::piece::{BodyError, BodyPart, MAX_FRAME};

    fn next(body: &mut RequestBody) -> Option<Result<Bytes, BodyError>> {
        match Pin::new(body).poll_frame(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(frame) => Some(frame?.map(|frame| frame.into_data().unwrap_or_default())),
            Poll::Pending => Some(Ok(Bytes::new())),
        }
    }

    fn bytes(size: usize) -> Bytes {
        vec![b'x'; size].into()
    }

    fn of(size: usize) -> BodyPart {
        BodyPart::Bytes(bytes(size))
    }

    fn file(size: u64, pieces: &[usize]) -> BodyPart {
        let pieces: Vec<_> = pieces.iter().map(|size| Ok(bytes(*size))).collect();
        BodyPart::file(size, stream::iter(pieces).boxed())
    }

    #[test]
    fn a_file_hands_the_request_over_with_its_last_frame() {
        let (mut body, leash) =
            RequestBody::new(vec![of(5), file(200_000, &[150_000, 0, 50_000]), of(3)], true);
        assert_eq!(body.size_hint().exact(), Some(200_008));
        let mut sizes = Vec::new();
        while let Some(frame) = next(&mut body) {
            sizes.push(frame.unwrap().len());
        }
        assert_eq!(sizes.iter().sum::<usize>(), 200_008);
        assert!(sizes.iter().all(|size| *size <= MAX_FRAME), "{sizes:?}");
        assert!(!leash.withdraw());
    }

    #[test]
    fn a_file_of_another_size_than_was_said_never_hands_the_request_over() {
        let broken = BodyPart::file(10, stream::iter([Ok(bytes(4)), Err("gone".into())]).boxed());
        for piece in [file(10, &[4, 5]), file(10, &[4, 7]), broken] {
            let (mut body, leash) = RequestBody::new(vec![piece], true);
            let mut last = next(&mut body);
            while let Some(Ok(_)) = last {
                last = next(&mut body);
            }
            assert!(matches!(last, Some(Err(BodyError::Unreadable))));
            assert!(leash.withdraw());
        }
    }

    #[test]
    fn only_the_last_frame_hands_the_request_over() {
        let (mut body, leash) = RequestBody::new(vec![of(MAX_FRAME + 1), of(7)], true);
        for (size, left) in [(MAX_FRAME, 8), (1, 7)] {
            assert_eq!(next(&mut body).and_then(Result::ok).map(|frame| frame.len()), Some(size));
            assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(left), false));
        }
        assert_eq!(next(&mut body).and_then(Result::ok), Some(bytes(7)));
        assert!(body.is_end_stream());
        assert!(next(&mut body).is_none());
        assert!(!leash.withdraw());
    }

    #[test]
    fn small_pieces_travel_as_one() {
        let (mut body, leash) = RequestBody::new(vec![of(3), of(0), of(MAX_FRAME - 3)], true);
        assert_eq!(next(&mut body).and_then(Result::ok), Some(bytes(MAX_FRAME)));
        assert!(!leash.withdraw());
    }

    #[test]
    fn what_was_withdrawn_or_dropped_never_ends() {
        for dropped in [false, true] {
            let (mut body, leash) = RequestBody::new(vec![of(MAX_FRAME), of(1)], true);
            assert_eq!(next(&mut body).and_then(Result::ok), Some(bytes(MAX_FRAME)));
            if dropped {
                drop(leash);
            } else {
                assert!(leash.withdraw());
                assert!(leash.withdraw(), "asking again changes nothing");
            }
            assert!(!body.is_end_stream());
            assert!(matches!(next(&mut body), Some(Err(BodyError::Withdrawn))));
        }
    }

    #[test]
    fn an_empty_body_is_handed_over_when_it_is_asked_for() {
        for announce in [false, true] {
            let (body, leash) = RequestBody::new(vec![], announce);
            assert_eq!(body.is_end_stream(), !announce);
            assert_eq!(body.size_hint().exact(), Some(0));
            assert!(!leash.withdraw());

            let (mut body, leash) = RequestBody::new(vec![of(0)], announce);
            assert!(leash.withdraw());
            assert!(!body.is_end_stream());
            assert_eq!(body.size_hint().exact(), Some(1), "a byte is missing, and stays so");
            assert!(matches!(next(&mut body), Some(Err(BodyError::Withdrawn))));
        }
    }
}
