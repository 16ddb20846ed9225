//! `net`: info, verify and export.

use std::fs;
use std::path::PathBuf;

use zoothera::nnue::Architecture;
use zoothera::nnue::synthetic;

use crate::run::zoothera;

#[test]
fn net_info_and_verify_accept_valid_nets_only() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("material.nnue");
    let net = path.to_string_lossy();
    zoothera(&["net-material", &net]).ok();
    let info = zoothera(&["net", "info", &net]).ok();
    let sha256 = info.out.lines().find_map(|line| line.strip_prefix("SHA-256")).expect("the hash").trim();
    assert_eq!(sha256.len(), 64);
    assert!(zoothera(&["net", "verify", &net]).ok().last_line().ends_with("is valid"));

    let named = path.with_file_name(format!("nn-{}.nnue", &sha256[..12]));
    fs::copy(&path, &named).expect("a copy");
    assert!(zoothera(&["net", "verify", &named.to_string_lossy()]).ok().out.contains("name matches"));
    let misnamed = path.with_file_name("nn-000000000000.nnue");
    fs::copy(&path, &misnamed).expect("a copy");
    zoothera(&["net", "verify", &misnamed.to_string_lossy()]).fails_with("the name contains the hash 000000000000");

    let bytes = fs::read(&path).expect("the net");
    let truncated = path.with_file_name("truncated.nnue");
    fs::write(&truncated, &bytes[..bytes.len() - 1]).expect("a copy");
    let run = zoothera(&["net", "verify", &truncated.to_string_lossy()]).fails_with("truncated.nnue");
    assert_eq!(run.code, Some(1));
    zoothera(&["net", "info", "no-such-net.nnue"]).fails_with("no-such-net.nnue");
}

#[test]
fn own_architecture_is_shown_and_verified() {
    let own = Architecture::from_words([0, 256, 1, 32, 32, 1]).expect("a supported shape");
    let bytes = synthetic::network(own, &synthetic::A, false);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("own.nnue");
    let net = path.to_string_lossy();
    fs::write(&path, &bytes).expect("the net");
    let info = zoothera(&["net", "info", &net]).ok().out;
    for line in [
        "Architecture  HalfKP 256x2-32-32-1 SCReLU (own)",
        "Activation    squared clipped ReLU, then clipped ReLU",
        "Version       0x5a6f6f31",
    ] {
        assert!(info.contains(line), "no '{line}' in:\n{info}");
    }
    assert!(zoothera(&["net", "verify", &net]).ok().last_line().ends_with("is valid"));
    let mut narrower = bytes;
    let width = 12 + b"synthetic".len() + 4;
    narrower[width..width + 4].copy_from_slice(&100u32.to_le_bytes());
    fs::write(&path, narrower).expect("the net");
    zoothera(&["net", "verify", &net]).fails_with("width 100; this engine supports multiples of 32 up to 3072");
}

#[test]
fn exported_net_is_byte_identical() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (net, copy) = (path("exported.nnue"), path("again.nnue"));
    let (small, large) = (path("small.nnue"), path("large.nnue"));
    let bytes = |name: &str| fs::read(name).expect("a net");
    zoothera(&["net-material", &net]).ok();
    let run = zoothera(&["net", "export", &copy, "--net", &net]).ok();
    assert!(run.out.contains("not compressed"));
    assert!(bytes(&net) == bytes(&copy));
    zoothera(&["net", "export", &small, "--net", &net, "--compress"]).ok();
    assert!(bytes(&small).len() < bytes(&net).len() * 2 / 3);
    let info = zoothera(&["net", "info", &small]).ok();
    assert!(info.out.contains("Compression   LEB128"));
    zoothera(&["net", "export", &copy, "--net", &small]).ok();
    assert!(bytes(&small) == bytes(&copy), "the compression of the input is kept");
    zoothera(&["net", "export", &large, "--net", &small, "--decompress"]).ok();
    assert!(bytes(&large) == bytes(&net));
    zoothera(&["net", "export", &path("no/such/folder")]).fails_with("no/such/folder");
}
