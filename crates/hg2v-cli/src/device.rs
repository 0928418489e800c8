//! Where the network runs: options of the commands that run it.

use clap::{Args, ValueEnum};
use hg2v::context::{Machine, MachineName, Precision};
use hg2v::error::Error;

#[derive(Args, Clone)]
#[command(next_help_heading = "Where it runs")]
pub(crate) struct DeviceArgs {
    /// cpu, cuda, or cuda:N for the N-th NVIDIA card, counted from 0
    #[arg(long, default_value_t, value_name = "NAME")]
    pub(crate) device: MachineName,
    /// How exactly a card multiplies
    #[arg(long, value_enum, default_value = "f32", value_name = "BITS")]
    pub(crate) precision: PrecisionArg,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionArg {
    /// all 32 bits
    F32,
    /// factors rounded to 10 bits after the point: faster
    Tf32,
    /// factors rounded to 7 bits after the point: not faster than tf32 in batches of a few thousand nodes
    Bf16,
}

impl DeviceArgs {
    /// The machine, ready to work.
    pub(crate) fn open(&self) -> hg2v::Result<Machine> {
        if self.device == MachineName::Cpu && self.precision != PrecisionArg::F32 {
            let requirement = "it is for --device cuda: the processor multiplies all 32 bits";
            return Err(Error::parameter("precision", "given", requirement));
        }
        let precision = match self.precision {
            PrecisionArg::F32 => Precision::F32,
            PrecisionArg::Tf32 => Precision::Tf32,
            PrecisionArg::Bf16 => Precision::Bf16,
        };
        Machine::open(self.device, precision)
    }

    /// What a run's note says of it.
    pub(crate) fn describe(&self) -> String {
        self.note().unwrap_or_else(|| self.device.to_string())
    }

    /// What a record of results must say, where they are not the processor's.
    pub(crate) fn note(&self) -> Option<String> {
        let precision = self.precision.to_possible_value()?;
        (self.device != MachineName::Cpu).then(|| format!("cuda, {}", precision.get_name()))
    }
}
