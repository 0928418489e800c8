//! Graphs compared two by two.
