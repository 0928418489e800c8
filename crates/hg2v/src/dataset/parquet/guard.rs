//! Decoding that cannot take the process with it.
//!
//! The Parquet decoder trusts parts of a file's structure that a damaged or
//! hostile file can break, and then panics (an index or a capacity out of
//! range). Here such a panic becomes an ordinary error. Only panics inside
//! [`guarded`] are treated so, on the thread that runs it.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a piece of decoding; a panic in it comes back as a message.
///
/// The value that `decode` was working on must not be used after a failure.
pub(crate) fn guarded<T, E: ToString>(decode: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    keep_quiet_while_decoding();
    DECODING.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(false);
    match outcome {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err("its structure contradicts itself".to_owned()),
    }
}

/// A caught panic is reported as an error of the file, so its message and
/// backtrace must not be printed as well. Every other panic goes to the hook
/// that was there before.
fn keep_quiet_while_decoding() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            if !DECODING.get() {
                before(panicked);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_and_the_next_call_works() {
        let empty: Vec<u8> = Vec::new();
        let failed = guarded(|| Ok::<_, String>(empty[std::hint::black_box(3)]));
        assert!(failed.unwrap_err().contains("contradicts"));
        assert_eq!(guarded(|| Ok::<_, String>(7)), Ok(7));
        assert_eq!(guarded(|| Err::<(), _>("no")), Err("no".to_owned()));
    }
}
