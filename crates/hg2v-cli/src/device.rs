//! Where the network runs: options of the commands that run it.

use clap::Args;
use hg2v::context::{Machine, MachineName, Precision};
use hg2v::error::Error;

use crate::vocabulary::word;

#[derive(Args, Clone)]
#[command(next_help_heading = "Where it runs")]
pub(crate) struct DeviceArgs {
    /// cpu, cuda, or cuda:N for the N-th NVIDIA GPU, counted from 0
    #[arg(long, default_value_t, value_name = "NAME")]
    pub(crate) device: MachineName,
    /// How exactly a GPU multiplies
    #[arg(long, default_value_t, value_name = "BITS", value_parser = word::<Precision>())]
    pub(crate) precision: Precision,
}

impl DeviceArgs {
    /// The machine, ready to work.
    pub(crate) fn open(&self) -> hg2v::Result<Machine> {
        if self.device == MachineName::Cpu && self.precision != Precision::F32 {
            let requirement = "it is for --device cuda: the processor multiplies all 32 bits";
            return Err(Error::parameter("precision", self.precision, requirement));
        }
        Machine::open(self.device, self.precision)
    }

    /// What a run's note says of it.
    pub(crate) fn describe(&self) -> String {
        self.device.described(self.precision)
    }

    /// What a record of results must say, where they are not the processor's.
    pub(crate) fn note(&self) -> Option<String> {
        (self.device != MachineName::Cpu).then(|| self.describe())
    }
}
