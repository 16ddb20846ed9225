//! `zoothera train --device gpu` and labels on a card end to end. The tests use the first card of any kind, including a
//! software device, and are skipped with a notice if there is none.

use std::io::Write as _;

use crate::common::engine::engine;
#[cfg(unix)]
use crate::common::engine::{restore_sighup, signal};
use crate::runs::*;

/// Settings of a net that trains fast, with a step on each of 24 batches.
const NET: &str = "--shape small --king-buckets 4";
const RUN: &str = "some.bin --millions 0.012 --batch 500 --threads 2 --every 0.004 --checkpoint-every 0 --average 0.3";
/// Hidden environment variable: the device is lost before this step.
const LOSE_AT: &str = "ZOOTHERA_GPU_LOSE_AT";
/// Environment variable with the drivers of the Vulkan loader.
const DRIVERS: &str = "VK_DRIVER_FILES";

/// Returns the list of the cards, or prints that the test is skipped if there is none.
fn cards() -> Option<String> {
    let output = engine().args(["gpu", "--list"]).output().expect("the program runs");
    assert!(output.status.success());
    let list = String::from_utf8_lossy(&output.stdout).into_owned();
    if list.is_empty() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: no Vulkan, Metal or DX12 device (install mesa-vulkan-drivers)");
        return None;
    }
    Some(list)
}

/// Returns the held-out loss of the last validation. The log ends with a comment, the settings.
fn last_loss(folder: &Folder, log: &str) -> f64 {
    let log = String::from_utf8(folder.bytes(log)).expect("a text");
    let last = log
        .lines()
        .rfind(|line| !line.starts_with('#'))
        .and_then(|line| line.split('\t').nth(2))
        .expect("a validation");
    last.parse().expect("a number")
}

#[test]
fn lost_device_keeps_checkpoint_and_resumed_run_is_byte_identical() {
    if cards().is_none() {
        return;
    }
    let folder = Folder::new("gpu-lost");
    let settings = format!("{RUN} {NET} --device gpu:1");
    folder.run(&format!("{settings} --out whole.nnue")).ok();
    let command = format!("{settings} --out lost.nnue --resume");
    let mut lost = folder.train(&command);
    // After the validation at 8 steps, which is newer than the checkpoint of the first step.
    Run::of(&lost.env(LOSE_AT, "10").output().expect("the program runs")).fails_with("was lost");
    assert!(folder.path("lost.checkpoint").exists());
    let mut again = folder.train(&command);
    let again = Run::of(&again.env(LOSE_AT, "5").output().expect("the program runs"));
    assert!(again.err.contains("resuming after 0.0 M positions"), "{}", again.err);
    again.fails_with("add --resume to the command");
    folder.run(&command).ok();
    assert!(folder.bytes("lost.nnue") == folder.bytes("whole.nnue"));
    let mut first = folder.train(&format!("{settings} --out first.nnue"));
    Run::of(&first.env(LOSE_AT, "0").output().expect("the program runs")).fails_with("start the run again");
    assert!(!folder.path("first.checkpoint").exists());
}

#[test]
fn run_continues_on_another_device() {
    if cards().is_none() {
        return;
    }
    let folder = Folder::new("gpu-change");
    let run = format!("{RUN} {NET}");
    folder.run(&format!("{run} --device cpu --out cpu.nnue")).ok();
    // Starts on the card and resumes on the processor.
    let mut begun = folder.train(&format!("{run} --device gpu:1 --out mixed.nnue"));
    Run::of(&begun.env(LOSE_AT, "12").output().expect("the program runs")).fails_with("was lost");
    folder.run(&format!("{run} --device cpu --out mixed.nnue --resume")).ok();
    let (mixed, cpu) = (last_loss(&folder, "mixed.tsv"), last_loss(&folder, "cpu.tsv"));
    assert!((mixed / cpu - 1.0).abs() < 0.1, "{mixed} {cpu}");
    // A finished run on the processor initialises another run on the card.
    folder.run(&format!("{run} --device gpu:1 --init cpu.checkpoint --rate 0.0001 --out more.nnue")).ok();
    let more = last_loss(&folder, "more.tsv");
    assert!(more < 1.1 * cpu, "{more} {cpu}");
}

#[cfg(unix)]
#[test]
fn interrupted_processor_run_resumes_on_card() {
    if cards().is_none() {
        return;
    }
    let folder = Folder::new("gpu-resume");
    let settings = "some.bin --batch 1000 --threads 1 --every 1 --checkpoint-every 0 --millions 0.2";
    let run = format!("{settings} {NET} --out net.nnue --resume");
    let mut command = folder.train(&run);
    restore_sighup(&mut command);
    let child = start(&folder, command);
    signal(&child, "TERM");
    Run::of(&child.wait_with_output().expect("the run ends")).fails_with("stopped by Ctrl-C or a signal after");
    let mut resumed = folder.train(&format!("{run} --device gpu:1"));
    let resumed = Run::of(&resumed.env(LOSE_AT, "3").output().expect("the program runs"));
    assert!(resumed.err.contains("training on "), "{}", resumed.err);
    resumed.fails_with("was lost");
}

#[test]
fn refusals_name_the_mend() {
    let Some(list) = cards() else { return };
    let folder = Folder::new("gpu-refusals");
    let refused = |arguments: &str, reason: &str| folder.run(arguments).fails_with(reason);
    refused("some.bin --shape sf12 --device gpu:1 --out a.nnue", "cannot train nets of the shape HalfKP");
    refused(&format!("some.bin {NET} --device gpu:nonesuch --out a.nnue"), "there is no graphics card nonesuch");
    refused(&format!("some.bin {NET} --device gpu:99 --out a.nnue"), "choose one of: 1 ");
    refused(&format!("some.bin {NET} --device gpu:1 --batch 1100000 --out a.nnue"), "batch is 1100000");
    refused("some.bin --device tpu --out a.nnue", "the device must be cpu, gpu, gpu:NAME, auto or auto:NAME");
    if list.contains("software on the processor") && !list.contains("graphics") {
        refused(&format!("some.bin {NET} --device gpu --out a.nnue"), "no graphics card found, only ");
        refused(&format!("some.bin {NET} --device gpu:1 --batch 300000 --out a.nnue"), " or less, another card");
        folder.run(&format!("{RUN} {NET} --device auto --out auto.nnue")).ok();
    }
    let auto = folder.run(&format!("{RUN} --shape sf12 --device auto:1 --out kp.nnue")).ok();
    assert!(auto.err.contains("training on the processor: a graphics card cannot train"), "{}", auto.err);
    assert!(!folder.path("a.nnue").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn missing_driver_is_named() {
    if cards().is_none() {
        return;
    }
    let folder = Folder::new("gpu-none");
    for (arguments, device) in [("gpu", ""), ("train some.bin", "--device gpu:1")] {
        let mut command = engine();
        command.current_dir(&folder.0).args(arguments.split(' ')).env(DRIVERS, "/nonexistent.json");
        if !device.is_empty() {
            command.args(NET.split(' ')).args(device.split(' '));
        }
        let run = Run::of(&command.output().expect("the program runs"));
        run.fails_with("no graphics card found. Install the driver");
    }
}

#[test]
fn self_test_passes() {
    if cards().is_none() {
        return;
    }
    let output = engine().args(["gpu", "1", "--seconds", "1", "--batch", "256"]).output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(": passed") && text.contains("positions a second"), "{text}");
}

#[test]
fn labels_of_the_card_and_of_the_processor_give_the_same_files() {
    if cards().is_none() {
        return;
    }
    let folder = Folder::new("gpu-labels");
    let command = |arguments: &str| {
        let words = arguments.split_whitespace();
        Run::of(&engine().current_dir(&folder.0).args(words).output().expect("the program runs"))
    };
    let net = concat!(env!("CARGO_MANIFEST_DIR"), "/nets/default.nnue");
    let sample = format!(
        "datagen sample --positions 3000 --one-in 5 --soft-nodes 200 --hash 1 --made 0.3 --seed 4 --label {net}@0.5 \
         --label {net}"
    );
    command(&format!("{sample} --device cpu --threads 1 --out a.tree")).ok();
    let sampled = command(&format!("{sample} --device gpu:1 --threads 3 --out b.tree")).ok();
    assert!(sampled.err.contains("labelling on "), "{}", sampled.err);
    assert!(folder.bytes("a.tree") == folder.bytes("b.tree"));
    let relabel =
        |out: &str, device: &str| command(&format!("data relabel a.tree {out} --label {net}@1.3 --device {device}"));
    relabel("c.tree", "cpu").ok();
    relabel("d.tree", "gpu:1").ok();
    assert!(folder.bytes("c.tree") == folder.bytes("d.tree") && folder.bytes("c.tree") != folder.bytes("a.tree"));
    relabel("e.tree", "gpu:nonesuch").fails_with("there is no graphics card nonesuch");
    assert!(!folder.path("e.tree").exists());
}

#[test]
fn lost_card_ends_sampling_and_the_file_is_resumed() {
    if cards().is_none() {
        return;
    }
    let folder = Folder::new("gpu-labels-lost");
    let net = concat!(env!("CARGO_MANIFEST_DIR"), "/nets/default.nnue");
    let run = |arguments: &str, lose_at: Option<&str>| {
        let mut command = engine();
        command.current_dir(&folder.0).args(arguments.split_whitespace());
        command.envs(lose_at.map(|batch| (LOSE_AT, batch)));
        Run::of(&command.output().expect("the program runs"))
    };
    let sample = |out: &str| {
        format!(
            "datagen sample --out {out} --positions 4000 --one-in 4 --soft-nodes 100 --hash 1 --threads 1 --resume \
             --label {net} --device gpu:1"
        )
    };
    run(&sample("whole.tree"), None).ok();
    run(&sample("lost.tree"), Some("4")).fails_with("was lost");
    let kept = folder.bytes("lost.tree");
    let whole = folder.bytes("whole.tree");
    assert!(!kept.is_empty() && kept.len() < whole.len() && whole.starts_with(&kept));
    run(&sample("lost.tree"), None).ok();
    assert!(folder.bytes("lost.tree") == whole);
    let relabel = format!("data relabel whole.tree new.tree --label {net} --device gpu:1");
    run(&relabel, Some("0")).fails_with("was lost");
    assert!(!folder.path("new.tree").exists());
}
