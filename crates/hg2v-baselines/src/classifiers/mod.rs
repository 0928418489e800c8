//! Classes taught by labels.
