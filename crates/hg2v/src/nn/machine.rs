//! Where a network runs, as a user says it: three words, each for one thing.
//!
//! A [`MachineName`] is what users type as `device`. A [`Machine`] is what it names, opened: the
//! processor or a GPU. A [`Device`](super::Device) is the arithmetic that either of them has, the
//! trait that networks are written against.

use std::fmt;
use std::str::FromStr;

#[cfg(feature = "cuda")]
use super::cuda::Cuda;
use crate::error::{Error, Opt, Result, shown};

/// How exactly a GPU multiplies; sums always have 32 bits. The processor always
/// takes all bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precision {
    /// All 32 bits of both factors; of large products in parts that tensor cores read, which
    /// keeps results within 1e-5.
    #[default]
    F32,
    /// Factors rounded to 10 bits after the point (TF32).
    Tf32,
    /// Factors rounded to 7 bits after the point (bfloat16).
    Bf16,
}

crate::vocabulary! { Precision, "precision":
    F32 => "f32", "all 32 bits";
    Tf32 => "tf32", "factors rounded to 10 bits after the point: faster";
    Bf16 => "bf16",
        "factors rounded to 7 bits after the point: not faster than tf32 in batches of a few thousand nodes";
}

/// The name of a machine: `cpu`, `cuda` or `cuda:N`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MachineName {
    /// The processor.
    #[default]
    Cpu,
    /// The NVIDIA GPU of this number.
    Cuda(usize),
}

impl FromStr for MachineName {
    type Err = Error;

    fn from_str(text: &str) -> Result<MachineName> {
        let number = |text: &str| text.parse().ok().filter(|_| !text.starts_with('+'));
        match text.split_once(':') {
            None if text == "cpu" => Ok(MachineName::Cpu),
            None if text == "cuda" => Ok(MachineName::Cuda(0)),
            Some(("cuda", n)) if number(n).is_some() => {
                Ok(MachineName::Cuda(number(n).unwrap_or(0)))
            }
            _ => {
                let requirement = "it must be cpu, cuda, or cuda:N with the number of a GPU";
                Err(Error::parameter(Opt::DEVICE, shown(text), requirement))
            }
        }
    }
}

impl fmt::Display for MachineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MachineName::Cpu => write!(f, "cpu"),
            MachineName::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

impl MachineName {
    /// What files say of who made them: on a GPU, how exactly it multiplied, too.
    pub fn described(self, precision: Precision) -> String {
        match self {
            MachineName::Cpu => self.to_string(),
            MachineName::Cuda(_) => format!("cuda, {precision}"),
        }
    }
}

/// A machine, opened.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Machine {
    /// The processor.
    #[default]
    Cpu,
    /// An NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda(Cuda),
}

impl Machine {
    /// Opens the machine of this name.
    ///
    /// # Errors
    /// A GPU that cannot be used; a build without CUDA.
    pub fn open(name: MachineName, precision: Precision) -> Result<Machine> {
        match name {
            MachineName::Cpu => Ok(Machine::Cpu),
            #[cfg(feature = "cuda")]
            MachineName::Cuda(ordinal) => Ok(Machine::Cuda(Cuda::open(ordinal, precision)?)),
            #[cfg(not(feature = "cuda"))]
            MachineName::Cuda(_) => {
                let _ = precision;
                Err(Error::device(
                    name.to_string(),
                    "this build of hg2v cannot use GPUs",
                    "build it with the feature `cuda`",
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_names() {
        let read = |text: &str| text.parse::<MachineName>().ok();
        assert_eq!(read("cpu"), Some(MachineName::Cpu));
        assert_eq!(read("cuda"), Some(MachineName::Cuda(0)));
        assert_eq!(read("cuda:3"), Some(MachineName::Cuda(3)));
        for text in ["", "gpu", "cuda:", "cuda:-1", "cuda:+1", "cuda:x", "CPU", "cpu:0"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(MachineName::Cuda(3).to_string(), "cuda:3");
    }
}
