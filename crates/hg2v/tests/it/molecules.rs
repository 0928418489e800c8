//! Molecules: known ones, all their spellings, what is wrong with bad ones, and texts made to hurt.

use std::fs;
use std::path::{Path, PathBuf};

use hg2v::dataset::molecules::{ATTRIBUTES, AtomLabel, from_smiles};
use hg2v::dataset::{self, Format, Limits, Skipped};
use hg2v::graph::{GraphRecord, Scalar};
use proptest::prelude::*;

fn read(smiles: &str) -> GraphRecord {
    from_smiles(smiles, &Limits::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(smiles: &str) -> String {
    from_smiles(smiles, &Limits::default()).unwrap_err().to_string()
}

/// Atoms, and bonds that are not single.
fn spelled(smiles: &str) -> String {
    let record = read(smiles);
    let mut words: Vec<String> =
        record.node_labels.unwrap().iter().map(ToString::to_string).collect();
    for ([a, b], kind) in record.edges.iter().zip(record.edge_labels.unwrap()) {
        if kind != "single".into() {
            words.push(format!("{a}-{b}:{kind}"));
        }
    }
    words.join(" ")
}

/// What RDKit 2026.09 says of the same: `make molecule-parity` asks it about thousands.
#[test]
fn atoms_and_bonds_are_those_of_rdkit() {
    for (smiles, expected) in [
        ("CCO", "CH3 CH2 OH"),
        ("[NH4+].[Cl-]", "NH4+ Cl-"),
        ("C=O", "CH2 O 0-1:double"),
        ("[13CH4]", "13CH4"),
        ("C#N", "CH N 0-1:triple"),
        ("[U]$[U]", "U U 0-1:quadruple"),
        ("O->[Fe]", "OH2 Fe 0-1:dative"),
        ("[NH3][Pt]", "NH3 Pt 0-1:dative"),
        ("CN(=O)=O", "CH3 N+ O- O 1-3:double"),
        ("CN=N#N", "CH3 N N+ N- 1-2:double 2-3:double"),
        ("OCl(=O)(=O)=O", "OH Cl+3 O- O- O-"),
        ("CS(C)=O", "CH3 S CH3 O 1-3:double"),
        ("F[P-](F)(F)(F)(F)F", "F P- F F F F F"),
        ("[H]C([H])([H])[H]", "CH4"),
        ("[H][H]", "H H"),
        ("[2H]C", "2H CH3"),
        ("C[H-]C", "CH3 H- CH3"),
        ("[H]/N=C/C", "H N CH CH3 1-2:double"),
        ("[H]N=CC", "NH CH CH3 0-1:double"),
        ("*C", "* CH3"),
        ("C1=CC=CC=CC=C1", "CH CH CH CH CH CH CH CH 0-1:double 2-3:double 4-5:double 6-7:double"),
    ] {
        assert_eq!(spelled(smiles), expected, "{smiles}");
    }
}

fn aromatic(smiles: &str) -> usize {
    let labels = read(smiles).edge_labels.unwrap();
    labels.iter().filter(|label| **label == "aromatic".into()).count()
}

#[test]
fn what_is_aromatic_is_found_out_from_electrons() {
    for (smiles, bonds) in [
        ("C1=CC=CC=C1", 6),
        ("c1ccccc1c1ccccc1", 12),
        ("C1=CC2=CC=CC=CC2=C1", 10),
        ("O=c1cc[nH]cc1", 6),
        ("C1=COC=CO1", 0),
        ("[CH-]1C=CC=C1", 5),
        ("C1=CC=C[CH+]C=C1", 7),
        ("O=C1C=CC(=O)C=C1", 0),
        ("[te]1cccc1", 5),
        ("[as]1ccccc1", 0),
        ("c1cc2ccc3cccc4ccc(c1)c2c34", 19),
        ("C12=C3C4=C5C1=C6C7=C8C2=C9C3=C%10C4=C%11C5=C6C%12=C%13C7=C8C9=C%10C%11=C%12%13", 36),
    ] {
        assert_eq!(aromatic(smiles), bonds, "{smiles}");
    }
}

#[test]
fn spellings_of_a_molecule_are_one_graph() {
    for (one, other) in [
        ("C1=CC=CC=C1O", "c1ccccc1O"),
        ("N1C=CC=C1", "[nH]1cccc1"),
        ("[H]N1C=CC=C1", "[nH]1cccc1"),
        ("C(C)O", "[CH2]([CH3])[OH]"),
        ("F/C=C/F", "F/C=C\\F"),
        ("N[C@@H](C)O", "N[C@H](C)O"),
        ("C%10CC%10", "C1CC1"),
        ("C=1CC=1", "C=1CC1"),
        ("[CH3:7]C", "CC"),
    ] {
        assert_eq!(read(one), read(other), "{one} {other}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (smiles, at, words) in [
        ("", 1, "it is empty"),
        ("C(C", 2, "`(` is never closed"),
        ("CC)C", 3, "`)` closes no branch"),
        ("C1CC", 2, "the ring closure 1 is never closed"),
        ("C11", 3, "binds an atom to itself"),
        ("C12CC12", 5, "bound already"),
        ("C=", 2, "no atom behind it"),
        ("C==C", 3, "two bonds in a row"),
        ("C=1CC#1", 6, "different bonds"),
        ("CX", 2, "`X` is no atom that may stand without brackets"),
        ("C[Xy]", 3, "`X` is no element"),
        ("C[NH2", 2, "`[` is never closed"),
        ("C[C+q]", 5, "`q` where `]` must be"),
        ("CC(C)(C)(C)C", 2, "C has 5 bonds, more than the 4 it can have"),
        ("cc", 1, "outside rings"),
        ("n1cccc1", 1, "[nH]"),
        ("C>>C", 2, "reaction"),
        ("C~C", 2, "pattern"),
        ("Cé", 2, "`é`"),
        ("C..C", 3, "`.` with no atom before it"),
        ("C.", 2, "`.` with no atom behind it"),
        ("C%1", 2, "two digits"),
    ] {
        let said = refusal(smiles);
        let place = format!("is no molecule: at {at}, ");
        // Which atom of a ring is left over does not matter.
        assert!(said.contains(&place) || smiles == "n1cccc1", "{smiles}: {said}");
        assert!(said.contains(words), "{smiles}: {said}");
    }
}

#[test]
fn limits_are_kept() {
    let few = Limits::default().max_nodes(3);
    assert!(from_smiles("CCC", &few).is_ok());
    let said = from_smiles("CCCC", &few).unwrap_err().to_string();
    assert!(said.contains("more atoms") && said.contains('3'), "{said}");
}

#[test]
fn attributes_are_numbers_of_atoms() {
    let limits = Limits::default().atom_attributes(true);
    let record = from_smiles("C1CC1[NH3+]", &limits).unwrap();
    let features = record.features.unwrap();
    assert_eq!(features.dim, ATTRIBUTES.len());
    let ring = [2.0, 2.0, 4.0, 0.0, 12.011, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(features.row(0), ring);
    assert_eq!(features.row(3)[..6], [1.0, 3.0, 4.0, 1.0, 14.007, 0.0]);
}

fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn all(path: &Path) -> Vec<GraphRecord> {
    let source = dataset::open(path, &Limits::default()).unwrap();
    source.collect::<hg2v::Result<_>>().unwrap()
}

#[test]
fn tables_bring_ids_labels_and_targets() {
    let folder = tempfile::tempdir().unwrap();
    let text = "Compound ID,logS,class,SMILES,y\r\n\"a, b\",-0.5,acid,CC(=O)O,1\r\nc,,,CCO,\r\n";
    let path = file(folder.path(), "t.csv", text);
    assert_eq!(dataset::detect(&path).unwrap(), Format::Smiles);
    let records = all(&path);
    assert_eq!(records[0].id, Some("a, b".into()));
    assert_eq!((&records[0].label, &records[1].label), (&Some(1.into()), &None));
    let targets: Vec<_> = records[0].targets.iter().map(|t| (&*t.name, t.value.clone())).collect();
    assert_eq!(targets, [("logS", Some(Scalar::Float(-0.5))), ("class", Some("acid".into()))]);
    assert_eq!(records[1].targets[0].value, None);
    let tabs = file(folder.path(), "t.tsv", "smiles\tname\tlogS\nCCO\t\t\n");
    assert_eq!((all(&tabs)[0].id.clone(), all(&tabs)[0].targets.len()), (None, 1));
    let bare = file(folder.path(), "t.smi", "CCO ethanol\nc1ccccc1\tbenzene ring\n\nC\n");
    let ids: Vec<_> = all(&bare).into_iter().map(|record| record.id).collect();
    assert_eq!(ids, [Some("ethanol".into()), Some("benzene ring".into()), None]);
    let none = file(folder.path(), "n.csv", "a,b\n1,2\n");
    assert!(dataset::detect(&none).unwrap_err().to_string().contains("column `smiles`"));
}

#[test]
fn stereo_is_left_out_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "t.smi", "N[C@@H](C)C(=O)O\n");
    let mut source = dataset::open(&path, &Limits::default()).unwrap();
    assert!(source.ignored().is_empty());
    source.by_ref().for_each(|record| drop(record.unwrap()));
    assert!(source.ignored()[0].contains("stereo"), "{:?}", source.ignored());
}

#[test]
fn one_bad_line_concerns_one_molecule() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "t.csv", "smiles,y\nCCO,1\nC((,2\nCC,3,4\nCCC,5\n");
    let found: Vec<_> = dataset::open(&path, &Limits::default()).unwrap().collect();
    let said: Vec<String> =
        found.iter().filter_map(|found| found.as_ref().err().map(ToString::to_string)).collect();
    assert!(said[0].contains("t.csv, line 3: the SMILES `C((` is no molecule: at 3"), "{said:?}");
    assert!(said[1].contains("line 4: the line has 3 cells where the header has 2"), "{said:?}");
    let skipped = Skipped::default();
    let source = dataset::open(&path, &Limits::default()).unwrap();
    let kept: Vec<_> = source.skipping(&skipped, |_, _| Ok(())).map(Result::unwrap).collect();
    assert_eq!((kept.len(), skipped.count()), (2, 2));
    assert_eq!(kept[1].label, Some(5.into()));
}

const V2000: &str = include_str!("../fixtures/v2000.sdf");
const V3000: &str = include_str!("../fixtures/v3000.sdf");

#[test]
fn mol_blocks_are_the_molecules_of_their_smiles() {
    let folder = tempfile::tempdir().unwrap();
    let expected = read("[13CH3]C([O-])=O.[NH4+]");
    for (name, text) in [("a.sdf", V2000), ("b.sdf", V3000)] {
        let path = file(folder.path(), name, &format!("{text}{text}"));
        let records = all(&path);
        assert_eq!(records.len(), 2);
        for record in records {
            assert_eq!(record.id, Some("acetate".into()));
            assert_eq!(record.label, Some(1.into()));
            assert_eq!(record.targets[0].value, Some(Scalar::Float(-0.3)));
            assert_eq!(
                (&record.node_labels, &record.edges),
                (&expected.node_labels, &expected.edges)
            );
            assert_eq!(record.edge_labels, expected.edge_labels);
        }
    }
}

#[test]
fn a_bad_block_is_told_by_its_line_and_the_next_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let bad = V2000.replace(" C   ", " Qq  ");
    let path = file(folder.path(), "a.sdf", &format!("{bad}{V2000}"));
    let found: Vec<_> = dataset::open(&path, &Limits::default()).unwrap().collect();
    let said = found[0].as_ref().unwrap_err();
    assert!(said.is_of_one_graph());
    assert!(said.to_string().contains("a.sdf, line 5: the MOL block is no molecule"), "{said}");
    assert!(found[1].is_ok() && found.len() == 2);
}

/// All bonds as ring closures: any graph can be written like this.
fn graph(atoms: usize, bonds: &[(usize, usize)], atom: &str) -> String {
    let mut text = vec![atom.to_owned(); atoms];
    // A number is free again once it closed; names come from a small pool.
    let mut last: Vec<usize> = vec![0; 90_000];
    for &(a, b) in bonds {
        let (a, b) = (a.min(b), a.max(b));
        let name = (1..last.len()).find(|&name| last[name] <= a).unwrap();
        last[name] = b + 1;
        text[a] += &format!("%({name})");
        text[b] += &format!("%({name})");
    }
    text.join(".")
}

/// Ladders, sheets and cages of thousands of atoms end soon; never a timed assertion, but a search
/// without bounds would not end at all.
#[test]
fn hostile_systems_of_rings_end() {
    let rungs = 2000;
    let mut ladder: Vec<(usize, usize)> = (0..rungs).map(|i| (i, rungs + i)).collect();
    ladder.extend((1..rungs).flat_map(|i| [(i - 1, i), (rungs + i - 1, rungs + i)]));
    ladder.sort_unstable();
    let dense: Vec<(usize, usize)> =
        (0..60).flat_map(|a| (a + 1..60).map(move |b| (a, b))).collect();
    for atom in ["C", "c", "[Fe]"] {
        let _ = from_smiles(&graph(2 * rungs, &ladder, atom), &Limits::default());
        let _ = from_smiles(&graph(60, &dense, atom), &Limits::default());
    }
    let deep = format!("{}C{}", "C(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(read(&deep).num_nodes, 100_001);
    assert_eq!(read(&format!("c1{}1", "c".repeat(9_997))).num_nodes, 9_998);
}

/// Pieces that molecules are made of, right and wrong.
fn pieces() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "C", "c", "n", "[nH]", "O", "N", "S", "=", "#", "-", ":", "/", "\\", "(", ")", "1", "2",
        "%12", ".", "[", "]", "[O-]", "[N+]", "[Fe]", "[2H]", "[H]", "*", "Cl", "Br", "@", "+",
        "->", "$", "é", "[se]", "b", "p", "~", "[C@@H]", "[13C]", "[CH-]",
    ]);
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn no_text_breaks_the_reader(text in pieces()) {
        match from_smiles(&text, &Limits::default().atom_attributes(true)) {
            Ok(record) => {
                prop_assert_eq!(record.check(), Ok(()));
                for label in record.node_labels.iter().flatten() {
                    prop_assert!(label.to_string().parse::<AtomLabel>().is_ok(), "{}", label);
                }
            }
            Err(error) => prop_assert!(error.is_of_one_graph()),
        }
    }

    #[test]
    fn no_damage_breaks_the_reader_of_blocks(at in 0usize..2000, byte: u8, three: bool) {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = if three { V3000 } else { V2000 }.as_bytes().to_vec();
        let place = at % bytes.len();
        bytes[place] = byte;
        let path = folder.path().join("a.sdf");
        fs::write(&path, bytes).unwrap();
        for found in dataset::open(&path, &Limits::default()).unwrap() {
            match found {
                Ok(record) => prop_assert_eq!(record.check(), Ok(())),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
