//! How far apart are two graphs, as the paper measures it?
//!
//! | distance | between | how |
//! |---|---|---|
//! | [`transport`] | two weighted sets of points | exactly, with a certificate |
//! | [`spectra`] | the Laplacians' eigenvalues | in closed form |
//! | [`fgw`] | structures and attributes at once | conditional gradients: a bound from above |

pub mod fgw;
#[doc(hidden)]
pub mod ground;
#[doc(hidden)]
pub mod simplex;
pub mod spectra;
pub mod transport;
