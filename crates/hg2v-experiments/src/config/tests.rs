//! Whether the files make sense, and name what there is.

use std::fs;
use std::path::Path;

use hg2v::dataset::catalog;
use hg2v::dataset::synthetic::Model;
use hg2v_baselines::registry;

use super::*;
use crate::figure::STEPS;

#[test]
fn every_file_is_one_of_these() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let mut files: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".json"))
        .collect();
    files.sort_unstable();
    let known = [
        "datasets.json",
        "fig-coarsening.json",
        "fig-neighbors.json",
        "fig-spectra.json",
        "fig-wl.json",
        "lab.json",
        "table2.json",
        "table3.json",
        "table4.json",
    ];
    assert_eq!(files, known);
}

#[test]
fn methods_are_in_the_registry() {
    let (table2, table4) = (table2().unwrap(), table4().unwrap());
    let others = table2.rows.iter().flat_map(|row| row.others.keys());
    for method in table2.methods.iter().chain(others) {
        registry::find(method).unwrap();
        assert!(table2.methods.contains(method), "{method} has no column");
    }
    for row in &table4.rows {
        assert!(row.paper.keys().eq(sorted(&table4.methods)), "{}", row.dataset);
    }
    table4.methods.iter().for_each(|method| assert!(registry::find(method).is_ok(), "{method}"));
    let lab = lab().unwrap();
    lab.methods.iter().for_each(|method| assert!(registry::find(method).is_ok(), "{method}"));
    // What results of one folder are shown in another table, the laboratory has, too.
    assert!(table2.methods.iter().all(|method| lab.methods.contains(method)));
    assert!([&lab.ours, &lab.control].iter().all(|method| lab.methods.contains(method)));
}

fn sorted(names: &[String]) -> Vec<&String> {
    let mut names: Vec<&String> = names.iter().collect();
    names.sort_unstable();
    names
}

#[test]
fn datasets_are_in_the_catalogue() {
    let table3 = table3().unwrap();
    let of_table2: Vec<String> =
        table2().unwrap().rows.into_iter().map(|row| row.dataset).collect();
    assert_eq!(of_table2.len(), 14);
    let transfers = table3.rows.iter().flat_map(|row| [row.from.clone(), row.to.clone()]);
    let neighbors = fig_neighbors().unwrap().datasets.into_iter().map(|set| set.name);
    let made = made_datasets().unwrap().into_iter().map(|made| made.name);
    let of_lab = lab().unwrap().rows;
    assert!(of_table2.iter().all(|name| of_lab.iter().any(|row| row.dataset == *name)));
    // Molecules come from packages, and BURSI is what FRANKENSTEIN-R is made of.
    let known = |row: &LabRow| !row.molecules && row.dataset != "BURSI";
    let of_lab = of_lab.into_iter().filter(known).map(|row| row.dataset);
    let all = of_table2
        .into_iter()
        .chain(of_lab)
        .chain(transfers)
        .chain(table4().unwrap().rows.into_iter().map(|row| row.dataset))
        .chain(fig_spectra().unwrap().datasets)
        .chain([fig_coarsening().unwrap().dataset])
        .chain(neighbors)
        .chain(made);
    for name in all {
        assert!(catalog::find(&name).is_some(), "{name}");
    }
}

#[test]
fn figures_can_be_drawn() {
    let wl = fig_wl().unwrap();
    assert!((1..=STEPS.len()).contains(&wl.stages), "a colour for each stage");
    assert_eq!(wl.families.len(), 4, "a chart for each");
    let names: Vec<&str> = wl.families.iter().map(|f| f.family.of(wl.nodes).name()).collect();
    assert_eq!(names, ["cycle", "tree", "wheel", "ladder"]);
    assert!(fig_neighbors().unwrap().neighbors > 0);
}

#[test]
fn nonsense_names_its_file() {
    let error = parsed::<FigCoarsening>("fig-coarsening.json", "{\"dataset\": 1}");
    let said = error.unwrap_err().to_string();
    assert!(said.starts_with("experiments/configs/fig-coarsening.json: "), "{said}");
    let misspelt = r#"[{ "name": "DLA", "from": "dla", "graphs": 10, "nodse": 5 }]"#;
    let error = parsed::<Vec<MadeDataset>>("datasets.json", misspelt);
    assert!(error.unwrap_err().to_string().contains("nodse"));
}
