//! How far apart are two graphs, as the paper measures it?
//!
//! | distance | between | how |
//! |---|---|---|
//! | [`transport`] | two weighted sets of points | exactly, with a certificate |
//! | [`simplex`] | the same, many times over | the network simplex |
//! | [`spectra`] | the Laplacians' eigenvalues | in closed form |
//! | [`ground`] | all rows of two sets of points | one point against many at once |
//! | [`fgw`] | structures and attributes at once | conditional gradients: a bound from above |

pub mod fgw;
pub mod ground;
pub mod simplex;
pub mod spectra;
pub mod transport;
