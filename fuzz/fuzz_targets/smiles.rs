#![no_main]
//! A table of SMILES, with a header or without.

#[allow(dead_code)]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = reading::file("molecules.smi", bytes);
    let limits = reading::limits().atom_attributes(true);
    reading::drain(hg2v::dataset::molecules::read_smiles(&path, &limits));
});
