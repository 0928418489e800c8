//! Numbers on the GPU, and the way there and back.

use cudarc::driver::{CudaEvent, CudaSlice, DeviceRepr, PinnedHostSlice};

use super::driver::{Gpu, pointer};

/// Growing memory on the GPU.
pub(super) struct Room<T> {
    memory: Option<CudaSlice<T>>,
    len: usize,
    at: u64,
}

impl<T> Default for Room<T> {
    fn default() -> Room<T> {
        Room { memory: None, len: 0, at: 0 }
    }
}

impl<T: DeviceRepr> Room<T> {
    /// Makes room for `len` things; what was there is lost if it grows.
    pub(super) fn reserve(&mut self, gpu: &Gpu, len: usize) {
        if self.len >= len && self.memory.is_some() {
            return;
        }
        // Batches differ a little in size: some room to spare saves moving each time.
        let len = if self.memory.is_some() { len + len / 4 } else { len };
        *self = Room::default();
        if let Some(memory) = gpu.allocate::<T>(len) {
            self.at = pointer(&memory, &gpu.stream);
            self.len = len;
            self.memory = Some(memory);
        }
    }

    /// The address of thing number `offset`.
    pub(super) fn at(&self, offset: usize) -> u64 {
        self.at + (offset * size_of::<T>()) as u64
    }

    /// For how many things there is room.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

/// Memory of this machine that the GPU copies from by itself while we go on.
///
/// Two places in turn: while one is being read the other is written.
#[derive(Default)]
pub(super) struct Staging {
    places: [Option<Place>; 2],
    next: usize,
}

struct Place {
    memory: PinnedHostSlice<u32>,
    /// When the last copy has left it.
    left: CudaEvent,
}

impl Staging {
    /// Copies what `fill` writes, `len` words, to address `to` of the GPU.
    pub(super) fn send(&mut self, gpu: &Gpu, to: u64, len: usize, fill: impl FnOnce(&mut [u32])) {
        if len == 0 || !gpu.ready() {
            return;
        }
        let place = &mut self.places[self.next];
        self.next = 1 - self.next;
        if place.as_ref().is_none_or(|place| place.memory.len() < len) {
            *place = gpu
                .pinned(len + len / 4)
                .zip(gpu.event())
                .map(|(memory, left)| Place { memory, left });
        }
        let Some(Place { memory, left }) = place else { return };
        if gpu.check(left.synchronize()).is_none() {
            return;
        }
        let Some(words) = gpu.check(memory.as_mut_slice()) else { return };
        fill(&mut words[..len]);
        gpu.send(&words[..len], to);
        gpu.check(left.record(&gpu.stream));
    }
}
