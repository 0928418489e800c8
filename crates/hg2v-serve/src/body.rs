//! Bodies as they arrive, and the room that all of them share.

use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::routes::Refusal;

/// Bodies longer than this are parsed beside the threads that talk to others.
const LONG: usize = 1 << 16;

/// What bodies may hold together, in kibibytes.
pub(crate) struct Room {
    free: Arc<Semaphore>,
    all: usize,
}

impl Room {
    pub(crate) fn new(bytes: u64) -> Room {
        let most = Semaphore::MAX_PERMITS.min(u32::MAX as usize);
        let all = bytes.div_ceil(1 << 10).clamp(1, most as u64) as usize;
        Room { free: Arc::new(Semaphore::new(all)), all }
    }

    /// Kibibytes of so many bytes. No more than all: the longest line of a stream may come
    /// with the beginning of the next, and it must not wait for what there never is.
    fn of(&self, bytes: usize) -> usize {
        bytes.div_ceil(1 << 10).min(self.all)
    }
}

/// Bytes that have arrived, and what they take of the room.
#[derive(Default)]
pub(crate) struct Held {
    bytes: Vec<u8>,
    taken: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Held {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a piece, where there is room for it.
    pub(crate) fn add(&mut self, piece: &[u8], room: &Room) -> Result<(), Refusal> {
        let taken = self.taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        // As many as all together need: each piece rounded up would make much of few bytes.
        let more = room.of(self.len() + piece.len()).saturating_sub(taken);
        let more = Arc::clone(&room.free).try_acquire_many_owned(more as u32);
        let more = more.map_err(|_| Refusal::busy())?;
        match &mut self.taken {
            Some(taken) => taken.merge(more),
            none => *none = Some(more),
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// Takes away the first `length` bytes, and what they take of the room. What is left
    /// takes no more memory than it needs.
    pub(crate) fn split_to(&mut self, length: usize, room: &Room) -> Held {
        let rest = self.bytes.split_off(length);
        let bytes = mem::replace(&mut self.bytes, rest);
        let keep = room.of(self.len());
        let over = |taken: &mut OwnedSemaphorePermit| {
            taken.split(taken.num_permits().saturating_sub(keep))
        };
        Held { bytes, taken: self.taken.as_mut().and_then(over) }
    }

    /// The bytes, and what is to be kept as long as they are.
    pub(crate) fn into_parts(self) -> (Bytes, Option<OwnedSemaphorePermit>) {
        (self.bytes.into(), self.taken)
    }
}

/// What `parse` makes of bytes; many are parsed on a thread of their own. They are let go
/// when they are parsed, not when nobody waits for it any longer.
pub(crate) async fn parsed<T: Send + 'static>(
    bytes: impl AsRef<[u8]> + Send + 'static,
    parse: impl FnOnce(&[u8]) -> T + Send + 'static,
) -> Result<T, Refusal> {
    match bytes.as_ref().len() < LONG {
        true => Ok(parse(bytes.as_ref())),
        false => tokio::task::spawn_blocking(move || parse(bytes.as_ref()))
            .await
            .map_err(|_| Refusal::broken()),
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
