//! `tables verify`.

use crate::common::shared;
use crate::run::zoothera;

#[test]
fn verify_names_each_damaged_table() {
    let tables = shared::data("syzygy");
    let good = zoothera(&["tables", "verify", &tables.display().to_string()]).ok();
    assert_eq!(good.out, "10 tables verified\n");

    let folder = tempfile::tempdir().expect("a folder");
    let copy = |name: &str, change: fn(&mut Vec<u8>)| {
        let mut bytes = std::fs::read(tables.join(name)).expect("a table");
        change(&mut bytes);
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("room");
        path.display().to_string()
    };
    copy("KQvK.rtbw", |_| {});
    let flipped = copy("KRvK.rtbz", |bytes| bytes[4000] ^= 1);
    let sum = copy("KPvK.rtbw", |bytes| *bytes.last_mut().expect("a byte") ^= 1);
    let short = copy("KQvK.rtbz", |bytes| bytes.truncate(3000));
    let empty = copy("KRvK.rtbw", Vec::clear);
    let run = zoothera(&["tables", "verify", &folder.path().display().to_string()]);
    let run = run.fails_with("4 of 5 tables cannot be used");
    for (file, why) in [
        (&flipped, "damaged (the checksum does not match); download it again"),
        (&sum, "damaged (the checksum does not match)"),
        (&short, "wrong size for a table"),
        (&empty, "the file is empty or truncated"),
    ] {
        assert!(run.err.contains(&format!("{file}: {why}")), "{}", run.err);
    }
    zoothera(&["tables", "verify", &flipped]).fails_with("1 of 1 table cannot be used");
}

#[test]
fn verify_without_tables_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = folder.path().display().to_string();
    zoothera(&["tables", "verify", &name]).fails_with("no tables (*.rtbw, *.rtbz) in ");
    zoothera(&["tables", "verify", &format!("{name}/none.rtbw")]).fails_with("1 of 1 table cannot be used");
    zoothera(&["tables", "verify"]).code.filter(|&code| code == 2).expect("a usage error");
}
