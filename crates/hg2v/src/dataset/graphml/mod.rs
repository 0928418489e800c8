//! (to be written)

use std::path::Path;

use super::{Limits, Source};
use crate::error::{Error, Place, Result};

/// Opens a collection.
///
/// # Errors
/// When it cannot be read.
pub fn read(path: &Path, _limits: &Limits) -> Result<Source> {
    Err(Error::input(path, Place::Whole, "not there yet", "wait"))
}
