//! Bodies as they arrive, and the room that all of them share.
//!
//! A quarter of the room is for the beginnings of bodies, so that there is always some for
//! small ones, however much large ones take.

use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::Refusal;

/// Bodies longer than this are large: parsed beside the threads that talk to others, and
/// worked on beside small ones.
pub(crate) const LONG: usize = 1 << 16;

/// What bodies may hold together, in kibibytes: their beginnings, and what goes beyond.
pub(crate) struct Room {
    parts: [Part; 2],
    /// How long a beginning is.
    beginning: usize,
}

struct Part {
    free: Arc<Semaphore>,
    all: usize,
}

impl Part {
    fn new(all: usize) -> Part {
        Part { free: Arc::new(Semaphore::new(all)), all }
    }
}

/// What a body takes of the room, until it is dropped.
pub(crate) type Taken = [Option<OwnedSemaphorePermit>; 2];

impl Room {
    pub(crate) fn new(bytes: u64) -> Room {
        let most = Semaphore::MAX_PERMITS.min(u32::MAX as usize) as u64;
        let all = bytes.div_ceil(1 << 10).clamp(2, most) as usize;
        let beginnings = (all / 4).max(1);
        Room {
            parts: [Part::new(beginnings), Part::new(all - beginnings)],
            beginning: (beginnings / 8).clamp(1, LONG >> 10),
        }
    }

    /// Kibibytes of so many bytes, in each part. No more than all: the longest line of a
    /// stream may come with the beginning of the next, and it must not wait for what there
    /// never is.
    fn of(&self, bytes: usize) -> [usize; 2] {
        let all = bytes.div_ceil(1 << 10);
        let beginning = all.min(self.beginning);
        [beginning, (all - beginning).min(self.parts[1].all)]
    }
}

/// Bytes that have arrived, and what they take of the room.
#[derive(Default)]
pub(crate) struct Held {
    bytes: Vec<u8>,
    taken: Taken,
}

impl Held {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a piece, where there is room for it.
    pub(crate) fn add(&mut self, piece: &[u8], room: &Room) -> Result<(), Refusal> {
        // As many as all together need: each piece rounded up would make much of few bytes.
        let needed = room.of(self.len() + piece.len());
        for ((part, taken), needed) in room.parts.iter().zip(&mut self.taken).zip(needed) {
            let more = needed.saturating_sub(taken.as_ref().map_or(0, |taken| taken.num_permits()));
            let more = Arc::clone(&part.free).try_acquire_many_owned(more as u32);
            let more = more.map_err(|_| Refusal::busy())?;
            match taken {
                Some(taken) => taken.merge(more),
                none => *none = Some(more),
            }
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// Takes away the first `length` bytes, and what they take of the room. What is left
    /// takes no more memory than it needs.
    pub(crate) fn split_to(&mut self, length: usize, room: &Room) -> Held {
        let rest = self.bytes.split_off(length);
        let bytes = mem::replace(&mut self.bytes, rest);
        let [mut beginning, mut beyond] = mem::take(&mut self.taken);
        let keep = room.of(self.len());
        let kept =
            |taken: &mut Option<OwnedSemaphorePermit>, keep: usize| taken.as_mut()?.split(keep);
        self.taken = [kept(&mut beginning, keep[0]), kept(&mut beyond, keep[1])];
        Held { bytes, taken: [beginning, beyond] }
    }

    /// The bytes, and what is to be kept as long as anything is that was made of them.
    pub(crate) fn into_parts(self) -> (Bytes, Taken) {
        (self.bytes.into(), self.taken)
    }
}

/// What `parse` makes of bytes; many are parsed on a thread of their own. What they `take` is
/// given back when they are parsed, though nobody waits for it any longer.
pub(crate) async fn parsed<T: Send + 'static, Take: Send + 'static>(
    bytes: Bytes,
    take: Take,
    parse: impl FnOnce(&[u8]) -> T + Send + 'static,
) -> Result<(T, Take), Refusal> {
    match bytes.len() < LONG {
        true => Ok((parse(&bytes), take)),
        false => {
            let parsed = tokio::task::spawn_blocking(move || (parse(&bytes), take)).await;
            parsed.map_err(|_| Refusal::broken())
        }
    }
}

/// The next bytes of a body.
pub(crate) async fn next(body: &mut Body) -> Option<Result<Bytes, Refusal>> {
    loop {
        let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
        match frame {
            Ok(frame) => match frame.into_data() {
                Ok(bytes) => return Some(Ok(bytes)),
                // Trailers say nothing to us.
                Err(_) => continue,
            },
            Err(_) => {
                return Some(Err(Refusal::bad("the body ended before its end; send it again")));
            }
        }
    }
}
