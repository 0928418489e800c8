//! One binary for all integration tests: it links once.

// A test may fail loudly.
#![allow(clippy::unwrap_used)]

// What tests share.
mod common; // fixtures, planted vectors

// Against scikit-learn.
mod parity;

// Against the definition.
mod classifiers; // further classifiers, fold by fold
mod knn; // all distances, sorted
mod ridge; // normal equations, by elimination
mod smo; // brute force over active sets, optimality conditions

// Properties.
mod goal; // classes and numbers, one target and several
mod metrics;
mod split;
mod study; // what is known is not judged again
mod threads; // the same bits at 1, 2 and 4

// Input that is not as it should be.
mod nonsense;
