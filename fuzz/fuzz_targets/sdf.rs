#![no_main]
//! An SDF file, V2000 and V3000.

#[allow(dead_code)]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = reading::file("molecules.sdf", bytes);
    let limits = reading::limits().atom_attributes(true);
    reading::drain(hg2v::dataset::molecules::read_sdf(&path, &limits));
});
