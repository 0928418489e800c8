//! Vectors without labels.
