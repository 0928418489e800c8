//! What each connection is doing, and which one has to go when there is no room for another.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::sleep;

/// How long somebody known may wait or pause before a newcomer takes the place, and somebody
/// new may take to show who it is: a thousand of them a second can be heard.
const PATIENCE: Duration = Duration::from_secs(1);
const INTRODUCTION: Duration = Duration::from_millis(500);

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing was asked yet.
    New,
    /// The next request may come.
    Idle,
    /// The body of a request is on its way.
    Body,
    /// A request is worked on, or its answer is on its way.
    Answer,
    /// The last answer is sent; what is still on its way here is thrown away.
    Closing,
}

/// What one connection is doing.
#[derive(Debug)]
pub(crate) struct Pulse {
    opened: Instant,
    now: Mutex<Now>,
    leave: AtomicBool,
    left: Notify,
}

#[derive(Debug, Clone, Copy)]
struct Now {
    phase: Phase,
    since: Instant,
    /// Since when nobody takes what is written.
    stalled: Option<Instant>,
    /// Whether it has shown that it may ask.
    known: bool,
}

impl Pulse {
    /// A new connection; where there is no token everybody is `known`.
    fn new(known: bool) -> Pulse {
        let opened = Instant::now();
        let now = Now { phase: Phase::New, since: opened, stalled: None, known };
        let (leave, left) = (AtomicBool::new(false), Notify::new());
        Pulse { opened, now: Mutex::new(now), leave, left }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        // Nobody panics while holding it.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn phase(&self) -> Phase {
        self.now().phase
    }

    pub(crate) fn enter(&self, phase: Phase) {
        let mut now = self.now();
        (now.phase, now.since) = (phase, Instant::now());
    }

    /// It asks, and has shown that it may where it is `known`: both at once, lest somebody
    /// known is taken for a stranger who has had its turn.
    pub(crate) fn asks(&self, known: bool, has_body: bool) {
        let phase = if has_body { Phase::Body } else { Phase::Answer };
        let mut now = self.now();
        (now.phase, now.since, now.known) = (phase, Instant::now(), now.known || known);
    }

    /// Whether the other side takes what is written.
    pub(crate) fn written(&self, taken: bool) {
        let mut now = self.now();
        match taken {
            true => now.stalled = None,
            false => drop(now.stalled.get_or_insert_with(Instant::now)),
        }
    }

    /// Waits until the other side has not taken what was written to it, or has not closed
    /// what was closed here, for as long as `bound`.
    pub(crate) async fn overdue(&self, bound: Duration) {
        loop {
            let since = {
                let now = self.now();
                now.stalled.or((now.phase == Phase::Closing).then_some(now.since))
            };
            // What begins later ends later: there is no need to look before.
            let left = since.map_or(bound, |since| bound.saturating_sub(since.elapsed()));
            if left.is_zero() {
                return;
            }
            sleep(left).await;
        }
    }

    /// Tells it to leave.
    pub(crate) fn tell_to_leave(&self) {
        self.leave.store(true, Ordering::Relaxed);
        self.left.notify_waiters();
    }

    /// Waits until it is told to leave.
    pub(crate) async fn told_to_leave(&self) {
        loop {
            let told = self.left.notified();
            if self.leave.load(Ordering::Relaxed) {
                return;
            }
            told.await;
        }
    }

    /// Whether nothing is lost that somebody known waits for when it ends now.
    pub(crate) fn may_end(&self) -> bool {
        let now = self.now();
        !now.known || now.stalled.is_some() || !matches!(now.phase, Phase::Body | Phase::Answer)
    }

    /// Who goes first, the least of all: strangers who have had an answer, strangers who may
    /// be about to show who they are, then those who keep a place without being worked for;
    /// of each kind who came or paused first.
    fn claim(&self) -> Option<(u8, Instant)> {
        let now = *self.now();
        let waits = now.stalled.or((now.phase != Phase::Answer).then_some(now.since));
        match waits {
            _ if self.leave.load(Ordering::Relaxed) => None,
            _ if !now.known && now.phase != Phase::New => Some((0, self.opened)),
            Some(since) if !now.known && since.elapsed() >= INTRODUCTION => Some((1, since)),
            _ if !now.known => None,
            Some(since) if since.elapsed() >= PATIENCE => Some((2, since)),
            _ => None,
        }
    }
}

/// All connections.
#[derive(Debug, Default)]
pub(crate) struct Guests {
    here: Mutex<(u64, BTreeMap<u64, Arc<Pulse>>)>,
}

/// A connection among the others, until it is dropped.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) pulse: Arc<Pulse>,
    number: u64,
    guests: Arc<Guests>,
}

impl Guests {
    fn here(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Arc<Pulse>>)> {
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter(self: &Arc<Guests>, known: bool) -> Guest {
        let pulse = Arc::new(Pulse::new(known));
        let mut here = self.here();
        here.0 += 1;
        let number = here.0;
        here.1.insert(number, Arc::clone(&pulse));
        Guest { pulse, number, guests: Arc::clone(self) }
    }

    /// Tells one to leave, where one has to; whether there is one.
    pub(crate) fn make_room(&self) -> bool {
        let here = self.here();
        let first = here.1.values().filter_map(|pulse| Some((pulse.claim()?, pulse)));
        let Some((_, pulse)) = first.min_by_key(|(claim, _)| *claim) else { return false };
        pulse.tell_to_leave();
        true
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.guests.here().1.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A guest whose clock was set back.
    fn guest(guests: &Arc<Guests>, known: bool, phase: Phase, seconds: u64) -> Guest {
        let mut guest = guests.enter(known);
        let since = Instant::now() - Duration::from_secs(seconds);
        let now = Now { phase, since, stalled: None, known };
        let (leave, left) = (AtomicBool::new(false), Notify::new());
        let pulse = Arc::new(Pulse { opened: since, now: Mutex::new(now), leave, left });
        guests.here().1.insert(guest.number, Arc::clone(&pulse));
        guest.pulse = pulse;
        guest
    }

    #[test]
    fn who_is_worked_for_stays_and_strangers_go_before_who_is_known() {
        let guests = Arc::new(Guests::default());
        let working = guest(&guests, true, Phase::Answer, 50);
        let fresh = guest(&guests, true, Phase::New, 0);
        let stalled = guest(&guests, true, Phase::Answer, 40);
        stalled.pulse.now().stalled = Some(Instant::now() - Duration::from_secs(3));
        let dripping = guest(&guests, true, Phase::Body, 2);
        let newest = guest(&guests, false, Phase::New, 0);
        let newer = guest(&guests, false, Phase::New, 1);
        let new = guest(&guests, false, Phase::New, 9);
        let younger = guest(&guests, false, Phase::Answer, 0);
        let older = guest(&guests, false, Phase::Idle, 1);
        let gone = |guest: &Guest| guest.pulse.leave.load(Ordering::Relaxed);
        for next in [&older, &younger, &new, &newer, &stalled, &dripping] {
            assert!(!gone(next));
            assert!(guests.make_room());
            assert!(gone(next), "{:?}", next.pulse);
        }
        assert!(!guests.make_room());
        assert!(!gone(&working) && !gone(&fresh) && !gone(&newest));
        drop((working, fresh, stalled, dripping, newest, newer, new, younger, older));
        assert!(guests.here().1.is_empty());
    }
}
