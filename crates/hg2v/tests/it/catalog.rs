//! The catalog against the sets themselves.

use std::env;
use std::path::Path;

use hg2v::dataset::Limits;
use hg2v::dataset::catalog::{KNOWN, Origin, find};

#[test]
fn names_are_found_and_fingerprints_look_like_some() {
    assert_eq!(find("mutag").unwrap().name, "MUTAG");
    assert!(find("MUTAGEN").is_none());
    for set in KNOWN {
        assert_eq!(find(set.name), Some(set), "a name comes twice");
        if let Some(fingerprint) = set.fingerprint {
            assert_eq!(fingerprint.len(), 64, "{}", set.name);
            assert!(fingerprint.bytes().all(|b| b"0123456789abcdef".contains(&b)));
        }
    }
}

#[test]
fn every_set_is_what_the_catalog_says() {
    let Some(data) = env::var_os("HG2V_DATA") else {
        eprintln!("skipped: set HG2V_DATA to run every_set_is_what_the_catalog_says");
        return;
    };
    let mut wrong = Vec::new();
    for set in KNOWN.iter().filter(|set| set.origin == Origin::Downloaded) {
        let path = Path::new(&data).join(format!("{}.zip", set.name));
        if let Err(problem) = set.verify(&path, &Limits::default()) {
            wrong.push(format!("{}: {problem}", set.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A check that takes any set for any other would be none.
    let mutag = find("MUTAG").unwrap();
    let other = Path::new(&data).join("PTC_FR.zip");
    assert!(mutag.verify(&other, &Limits::default()).is_err());
}
