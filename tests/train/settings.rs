//! Settings, shapes and reports of runs.

use std::fs;

use zoothera::board::openings::random_walk;
use zoothera::board::{Move, Position};
use zoothera::data::tree::{Encoder, PackedMove, Root};
use zoothera::nnue::{AccumulatorStack, Network};
use zoothera::util::rng::SplitMix64;

use crate::common::folder::pauses;
use crate::runs::*;

#[test]
fn settings_load_from_file_and_weights_from_net() {
    let folder = Folder::new("config");
    let config = "shape = 'sf12'\nfiles = ['some.bin']\nmillions = 0.1\nbatch = 1000\nthreads = 2\nout = 'first.nnue'\n\
                  loss = 'power'\nlambda = 1.0\nlambda-end = 0.7\nschedule = 'step'\nstep-every = 0.03\n\
                  warm-up = 0.01\nevery = 0.05\n";
    fs::write(folder.path("run.toml"), config).expect("a file");
    folder.run("--config run.toml").ok();
    let first = held_out(&folder, "first.tsv");
    // After one batch with a negligible rate, the loss must be that of the initial net.
    let tuning =
        "--config run.toml --init first.nnue --rate 1e-9 --millions 0.001 --every 0.001 --lambda 0.7 --warm-up 0";
    folder.run(&format!("{tuning} --out second.nnue")).ok();
    let second = held_out(&folder, "second.tsv");
    let (end, begin) = (first[first.len() - 1], second[0]);
    assert!((begin / end - 1.0).abs() < 0.05, "{first:?} {second:?}");

    fs::write(folder.path("bad.toml"), "batches = 3\n").expect("a file");
    folder.run("--config bad.toml").fails_with("batches");
    folder.run("--config none.toml").fails_with("none.toml");
    folder.run("--millions 1").fails_with("no training data");
    folder.run("some.bin --lambda 2").fails_with("lambda is 2");
    folder.run("some.bin --init run.toml --millions 0.01").fails_with("run.toml");
}

#[test]
fn weight_average_resumes_and_exports() {
    let folder = Folder::new("average");
    let settings = format!("{SHORT} --schedule constant --rate 0.01 --scale 3000");
    assert_kills_change_nothing(&folder, &format!("{settings} --average 0.5"), &pauses(2, 2500));
    folder.run("export whole.checkpoint --out mean.nnue").ok();
    assert!(folder.bytes("mean.nnue") == folder.bytes("whole.nnue"));
    // Averaging does not change the steps.
    folder.run(&format!("{settings} --out plain.nnue")).ok();
    folder.run("export whole.checkpoint --last --out last.nnue").ok();
    assert!(folder.bytes("last.nnue") == folder.bytes("plain.nnue"));
    let end = |name: &str| held_out(&folder, name).pop().expect("a validation");
    let (mean, last) = (end("whole.tsv"), end("plain.tsv"));
    // On so few positions the mean is no better than the last net: 0.91 to 1.09 of its loss with eight seeds.
    assert!(mean != last && mean < 1.3 * last, "{mean} {last}");
}

#[test]
fn rounded_training_resumes_exports_and_reduces_quantisation_error() {
    let folder = Folder::new("rounded");
    assert_kills_change_nothing(&folder, &format!("{SHORT} --rounded 0.5"), &pauses(2, 2500));
    let rounded = folder.run("export whole.checkpoint --out rounded.nnue").ok();
    assert!(folder.bytes("rounded.nnue") == folder.bytes("whole.nnue"));
    folder.run(&format!("{SHORT} --out plain.nnue")).ok();
    let plain = folder.run("export plain.checkpoint --out plain.nnue").ok();
    let (rounded, plain) = (difference(&rounded), difference(&plain));
    assert!(rounded < 0.5 * plain, "{rounded} {plain}");
}

#[test]
fn fine_tuning_starts_at_initial_loss_and_improves_it() {
    let folder = Folder::new("fine-tune");
    let settings = "some.bin --batch 1000 --threads 2 --every 0.05 --loss power --loss-exponent 2.6";
    folder
        .run(&format!("{settings} --shape sf12 --millions 0.2 --schedule constant --rate 0.004 --out base.nnue"))
        .ok();
    let tune = "--millions 0.2 --rate 0.0008 --warm-up 0.02 --decay 0.01 --sparsity 1e-6";
    let base = held_out(&folder, "base.tsv").pop().expect("a validation");
    for init in ["base.nnue", "base.checkpoint"] {
        folder.run(&format!("{settings} {tune} --init {init} --out tuned.nnue")).ok();
        let tuned = held_out(&folder, "tuned.tsv");
        assert!(tuned[0] < 1.05 * base && tuned[tuned.len() - 1] < 0.98 * base, "{base} {tuned:?}");
    }
}

#[test]
fn mixed_net_starts_between_two_nets() {
    let folder = Folder::new("mix");
    let short = "some.bin --batch 1000 --threads 1 --millions 0.02";
    folder.run(&format!("{short} --out a.nnue")).ok();
    folder.run(&format!("{short} --init a.checkpoint --rate 0.02 --seed 2 --out b.nnue")).ok();
    let start = |arguments: &str| {
        let run = folder.run(&format!("{short} --init a.checkpoint {arguments} --out c.nnue")).ok();
        let (_, loss) = run.err.split_once("before the first step  held out ").expect("the initial loss");
        loss.split_whitespace().next().expect("a number").to_owned()
    };
    let b = folder.run(&format!("{short} --init b.checkpoint --out c.nnue")).ok();
    assert_ne!(start(""), start("--mix b.checkpoint --mix-share 1"));
    assert_eq!(start("--mix b.checkpoint --mix-share 0"), start(""));
    assert!(b.err.contains(&format!("held out {}", start("--mix b.checkpoint --mix-share 1"))), "{}", b.err);
    // The mean of two nets is neither of them, and the half is the default.
    let half = start("--mix b.checkpoint");
    assert_eq!(half, start("--mix b.checkpoint --mix-share 0.5"));
    assert!(half != start("") && half != start("--mix b.checkpoint --mix-share 1"), "{half}");

    folder.run(&format!("{short} --mix b.checkpoint --out c.nnue")).fails_with("--init");
    let mix = |arguments: &str| folder.run(&format!("{short} --init a.checkpoint --out c.nnue {arguments}"));
    mix("--mix b.checkpoint --mix-share 1.5").fails_with("--mix-share 1.5: must be from 0 to 1");
    mix("--mix none.checkpoint").fails_with("none.checkpoint");
    mix("--mix b.checkpoint --keep-moments true").fails_with("--keep-moments cannot be used with --mix");
    folder.run("some.bin --shape small --king-buckets 1 --l1 320 --millions 0.001 --out wide.nnue").ok();
    mix("--mix wide.checkpoint").fails_with("only nets of one shape can be mixed");

    // A warning, if both runs rounded the weights and this one does not.
    folder.run(&format!("{short} --init a.checkpoint --rounded 1 --out r.nnue")).ok();
    let warns = |arguments: &str| {
        let run = folder.run(&format!("{short} --out c.nnue {arguments}")).ok();
        run.err.contains("warning: both checkpoints were trained with rounding")
    };
    assert!(warns("--init r.checkpoint --mix r.checkpoint"));
    assert!(!warns("--init r.checkpoint --mix r.checkpoint --rounded 1"));
    assert!(!warns("--init r.checkpoint --mix a.checkpoint"));
}

#[test]
fn results_of_sampled_positions_are_ignored() {
    let folder = Folder::new("sampled");
    let short = "--millions 0.05 --batch 1000 --threads 1";
    for (out, what) in [
        ("scores.nnue", "--sampled some.bin --lambda 1"),
        ("results.nnue", "--sampled some.bin"),
        ("games.nnue", "some.bin --any-position --lambda 0"),
        ("mixed.nnue", "some.bin --sampled some.bin --lambda 0"),
    ] {
        folder.run(&format!("{what} {short} --out {out}")).ok();
    }
    // The default weight of the results is above 0.
    assert!(folder.bytes("results.nnue") == folder.bytes("scores.nnue"));
    folder
        .run(&format!("--sampled some.bin {short} --lambda 0"))
        .fails_with("lambda is 0, but all positions are samples");
    assert!(folder.bytes("results.nnue") != folder.bytes("games.nnue"));
    assert!(folder.bytes("mixed.nnue") != folder.bytes("games.nnue"));
}

/// A `.tree` of positions after random walks, with random scores and results.
fn tree() -> Vec<u8> {
    let mut rng = SplitMix64::new(3);
    let mut bytes = Vec::new();
    for game in 0..100 {
        let start = Position::startpos();
        let mut encoder = Encoder::new(Root::of(&start));
        for plies in 1..30 {
            if let Some(position) = random_walk(&start, plies, &mut rng) {
                let path: Vec<PackedMove> = position.moves_since(start.history_len()).map(Move::bits_of).collect();
                encoder.sample(&path, rng.below(800) as i16 - 400).expect("a path of possible moves");
            }
        }
        encoder.finish(game % 3 - 1, &mut bytes).expect("writing to a vector");
    }
    bytes
}

#[test]
fn tree_is_a_sample_by_its_kind() {
    let folder = Folder::new("tree-kind");
    fs::write(folder.path("s.tree"), tree()).expect("a file");
    let short = "--millions 0.01 --batch 500 --threads 1 --max-score 10000";
    folder.run(&format!("s.tree {short} --out plain.nnue")).ok();
    folder.run(&format!("--sampled s.tree {short} --out sampled.nnue")).ok();
    assert!(folder.bytes("plain.nnue") == folder.bytes("sampled.nnue"));
    folder.run(&format!("s.tree {short} --lambda 0.5")).fails_with("lambda is 0.5, but all positions are samples");
    // Records that were converted keep the mark.
    let convert =
        crate::common::engine::engine().current_dir(&folder.0).args(["data", "convert", "s.tree", "s.bin"]).output();
    Run::of(&convert.expect("the program runs")).ok();
    for file in ["s.tree", "s.bin"] {
        folder.run(&format!("loss {file} --lambda 0.5")).fails_with("because they are samples: leave out --lambda");
        folder.run(&format!("loss {file}")).ok();
    }
}

#[test]
fn screlu_net_round_trips() {
    let folder = Folder::new("squares");
    let short = "some.bin --millions 0.05 --batch 1000 --threads 1";
    folder.run(&format!("{short} --shape sf12 --activation screlu --out net.nnue")).ok();
    let network = Network::from_bytes(&folder.bytes("net.nnue")).expect("a network");
    let name = network.architecture().to_string();
    assert_eq!(name, "HalfKP 256x2-32-32-1 SCReLU (own)");
    folder.run("export net.checkpoint --out again.nnue").ok();
    assert!(folder.bytes("again.nnue") == folder.bytes("net.nnue"));
    // The net can initialise another run, which inherits the shape.
    let on = format!("{short} --init net.nnue --out on.nnue");
    folder
        .run(&format!("{on} --activation crelu"))
        .fails_with("but the settings ask for HalfKP 256x2-32-32-1: leave out");
    folder.run(&on).ok();
    let network = Network::from_bytes(&folder.bytes("on.nnue")).expect("a network");
    assert_eq!(network.architecture().to_string(), name);
}

#[test]
fn pairwise_net_with_skip_and_psqt_round_trips() {
    let folder = Folder::new("products");
    let short = "some.bin --batch 1000 --threads 2 --output-scale 1.3";
    folder.run(&format!("{short} --millions 0.05 --shape small --king-buckets 4 --out net.nnue")).ok();
    let network = Network::from_bytes(&folder.bytes("net.nnue")).expect("a network");
    let name = network.architecture().to_string();
    assert_eq!(name, "HalfKAv2_hm/4 256x2-(15+1)-32-1 PSQT x8 (own)");
    folder.run("export net.checkpoint --out again.nnue").ok();
    assert!(folder.bytes("again.nnue") == folder.bytes("net.nnue"));
    let on = format!("{short} --rate 1e-9 --every 0.001 --millions 0.001 --init net.nnue");
    folder.run(&format!("{on} --shape default --out no.nnue")).fails_with("the initial net is HalfKAv2_hm/4 256x2");
    // The first validation of a warm start repeats the last one of the initial run.
    folder.run(&format!("{on} --out on.nnue")).ok();
    let end = held_out(&folder, "net.tsv").pop().expect("a validation");
    let begin = held_out(&folder, "on.tsv")[0];
    assert!((begin / end - 1.0).abs() < 0.05, "{begin} {end}");
    // A net can be trained further with more king buckets: each begins as the one that contained it.
    folder.run(&format!("{on} --king-buckets 16 --out finer.nnue")).ok();
    let finer = held_out(&folder, "finer.tsv")[0];
    assert!((finer / begin - 1.0).abs() < 0.001, "{finer} {begin}");
    let network = Network::from_bytes(&folder.bytes("finer.nnue")).expect("a network");
    assert_eq!(network.architecture().to_string(), "HalfKAv2_hm/16 256x2-(15+1)-32-1 PSQT x8 (own)");
    let refused = "any net can get a smaller --l1 and fewer --king-buckets";
    folder.run(&format!("{on} --l1 320 --out no.nnue")).fails_with(refused);
    let checkpoint = on.replace("net.nnue", "net.checkpoint");
    folder.run(&format!("{checkpoint} --king-buckets 8 --out no.nnue")).fails_with(refused);
}

#[test]
fn narrower_net_keeps_what_matters_of_its_initial_one() {
    let folder = Folder::new("narrower");
    let short = "some.bin --batch 1000 --threads 2";
    folder.run(&format!("{short} --millions 0.2 --shape small --king-buckets 4 --out net.nnue")).ok();
    let as_it_is = "--rate 1e-9 --every 0.001 --millions 0.001";
    let shape = "--l1 128 --king-buckets 1";
    folder.run(&format!("{short} {as_it_is} --shape small {shape} --out new.nnue")).ok();
    let new = held_out(&folder, "new.tsv")[0];
    for init in ["net.nnue", "net.checkpoint"] {
        folder.run(&format!("{short} {as_it_is} {shape} --attacks to-enemy --init {init} --out narrow.nnue")).ok();
        let network = Network::from_bytes(&folder.bytes("narrow.nnue")).expect("a network");
        let name = network.architecture().to_string();
        assert_eq!(name, "HalfKAv2_hm/1 + attacks to-enemy 128x2-(15+1)-32-1 PSQT x8 (own)");
        let narrow = held_out(&folder, "narrow.tsv")[0];
        assert!(narrow < 0.8 * new, "{init}: {narrow}, new {new}");
    }
}

#[test]
fn half_kp_net_with_eight_stacks_round_trips() {
    let folder = Folder::new("stacks");
    let short = "some.bin --millions 0.05 --batch 1000 --threads 2";
    folder.run(&format!("{short} --shape sf12 --buckets 8 --out net.nnue")).ok();
    let network = Network::from_bytes(&folder.bytes("net.nnue")).expect("a network");
    let name = network.architecture().to_string();
    assert_eq!(name, "HalfKP 256x2-32-32-1 x8 (own)");
    folder.run("export net.checkpoint --out again.nnue").ok();
    assert!(folder.bytes("again.nnue") == folder.bytes("net.nnue"));
    let on = format!("{short} --init net.nnue --out on.nnue");
    folder.run(&format!("{on} --buckets 1")).fails_with("the initial net is HalfKP 256x2-32-32-1 x8");
    folder.run(&on).ok();
}

#[test]
fn net_without_hidden_layers_round_trips_and_is_a_setting_in_a_file() {
    let folder = Folder::new("direct");
    let shape = "features = 'chess768'\nl1 = 192\nactivation = 'screlu'\nlayers = 'none'\nbuckets = 3\n";
    fs::write(folder.path("simple.toml"), shape).expect("a file");
    let short = "some.bin --batch 1000 --threads 2 --output-scale 1.3";
    folder.run(&format!("{short} --millions 0.05 --config simple.toml --out net.nnue")).ok();
    let network = Network::from_bytes(&folder.bytes("net.nnue")).expect("a network");
    assert_eq!(network.architecture().to_string(), "Chess768 192x2-1 SCReLU x3 (own)");
    folder.run("export net.checkpoint --out again.nnue").ok();
    assert!(folder.bytes("again.nnue") == folder.bytes("net.nnue"));
    // The first validation of a warm start repeats the last one of the initial run.
    let on = format!("{short} --rate 1e-9 --every 0.001 --millions 0.001 --init net.nnue --out on.nnue");
    folder.run(&on).ok();
    let (losses, begin) = (held_out(&folder, "net.tsv"), held_out(&folder, "on.tsv")[0]);
    let end = losses.last().expect("a validation");
    assert!((begin / end - 1.0).abs() < 0.05, "{begin} {end}");
    // The activation takes its usual layers with it, but layers that were chosen stay.
    let log = fs::read_to_string(folder.path("net.tsv")).expect("a log");
    assert!(log.contains("\"layers\":\"none\""), "{log}");
    folder
        .run(&format!("{on} --layers 16,32"))
        .fails_with("but the settings ask for Chess768 192x2-16-32-1 SCReLU x3 (own): leave out");
    folder
        .run(&format!("{short} --millions 0.05 --resume --out net.nnue --features chess768 --layers 16,32"))
        .fails_with("layers is 16,32 in the settings and none in the checkpoint");
}

#[test]
fn warm_start_and_resume_reject_another_shape() {
    let folder = Folder::new("widths");
    let short = "some.bin --millions 0.05 --batch 1000 --threads 1";
    let whole = "--features half-kav2-hm --king-buckets 1 --activation pairwise --buckets 8 --psqt --l1 256";
    folder.run(&format!("{short} {whole} --out net.nnue")).ok();
    for init in ["net.nnue", "net.checkpoint"] {
        for other in ["--l1 1024", "--shape default"] {
            let run = folder.run(&format!("{short} {other} --init {init} --out on.nnue"));
            run.fails_with("the initial net is HalfKAv2_hm/1 256x2");
        }
    }
    let resume = "some.bin --millions 0.05 --batch 1000 --threads 1 --resume --out net.nnue";
    folder
        .run(&format!("{resume} --features half-kav2-hm --l1 1024"))
        .fails_with("l1 is 1024 in the settings and 256 in the checkpoint");
    folder
        .run(&format!("{resume} --shape small"))
        .fails_with("king-buckets is 8 in the settings and 1 in the checkpoint");
    // Without conflicting options, the checkpoint determines the shape.
    folder.run(&format!("{resume} --features half-kav2-hm")).ok();
}

#[cfg(not(feature = "gpu"))]
#[test]
fn device_without_feature_names_the_build() {
    let folder = Folder::new("device");
    folder.run("some.bin --device gpu --out a.nnue").fails_with("cargo build --release --features gpu");
    let auto = folder.run("some.bin --device auto --millions 0.01 --batch 1000 --out a.nnue").ok();
    assert!(auto.err.contains("training on the processor: this program was built without"), "{}", auto.err);
    Run::of(&crate::common::engine::engine().arg("gpu").output().expect("the program runs"))
        .fails_with("--features gpu");
}

#[test]
fn unsupported_shape_error_lists_choices() {
    let folder = Folder::new("shapes");
    for (settings, message) in [
        ("--shape sf12 --l1 300", "l1 is 300, but must be a multiple of 32 up to 3072"),
        ("--shape sf12 --activation pairwise", "layers is 16,32, but must be none with HalfKP and activation pairwise"),
        ("--shape sf12 --layers 64,32", "layers is 64,32, but must be none or 8,8 or 8,16 or 8,32 or 16,8 or 16,16 or"),
        ("--shape sf12 --layers deep", "deep is neither two numbers of outputs, such as 16,32, nor none"),
        ("--shape sf12 --buckets 17", "buckets is 17, but must be 1 to 16"),
        ("--shape small --layers none", "psqt is true, but must be false with HalfKAv2_hm/8"),
        ("--shape default --l1 3136", "l1 is 3136, but must be a multiple of 32 up to 3072"),
        ("--shape small --activation crelu", "psqt is true, but must be false with HalfKAv2_hm/8"),
        ("--shape sf18", "[possible values: default, small, wide, sf12, sf15.1]"),
    ] {
        folder.run(&format!("some.bin {settings}")).fails_with(message);
    }
}

#[test]
fn loss_prints_mean_squared_difference_of_expected_results() {
    let folder = Folder::new("loss");
    fs::write(folder.path("default.nnue"), Network::embedded().to_bytes()).expect("a net");
    // The expected results by their definition, independent of the trainer's code.
    let expected = |units: f64| 1.0 / (1.0 + (-units / 340.0).exp());
    let mut accumulators = AccumulatorStack::new(Network::embedded());
    let mut sum = [0.0; 2];
    let mut count = 0.0;
    let path = folder.path("some.bin");
    zoothera::data::reader::for_each(&path, |entry| {
        let record = entry.record();
        accumulators.reset();
        let value = f64::from(accumulators.evaluate(&record).value());
        for (sum, factor) in sum.iter_mut().zip([1.0, 0.5]) {
            let value = (factor * value).round();
            *sum += (expected(value) - expected(f64::from(entry.score))).powi(2);
        }
        count += 1.0;
        Ok(())
    })
    .expect("a valid file");

    let nets = "--net default.nnue --net default.nnue@0.5";
    let output = folder.train(&format!("loss some.bin {nets} --max-score 32000"));
    let output = { output }.output().expect("the program runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("a text");
    let lines: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 2, "{text}");
    for (line, sum) in lines.iter().zip(sum) {
        assert_eq!(line[0], format!("{count}"), "{text}");
        let loss: f64 = line[1].parse().expect("a number");
        assert!((loss - 1e6 * sum / count).abs() < 1.0, "{loss} {sum}");
    }

    folder.run("loss none.bin").fails_with("none.bin");
    folder.run("loss some.bin --net some.bin").fails_with("some.bin");
    folder.run("loss some.bin --scale 0").fails_with("scale is 0, but must be more than 0");
}

#[test]
fn diverged_run_fails_and_keeps_last_good_checkpoint() {
    let folder = Folder::new("train-diverged");
    let settings = "some.bin --shape sf12 --batch 1000 --threads 2 --every 0.02 --checkpoint-every 0.01";
    folder.run(&format!("{settings} --millions 0.02 --out mine.nnue")).ok();
    let good = folder.bytes("mine.nnue");
    // Weights are at their limit after the first batch; the run must fail before it replaces a file.
    let diverged = folder.run(&format!("{settings} --millions 0.2 --rate 50 --out mine.nnue"));
    assert!(diverged.err.contains("No checkpoint was written"), "{}", diverged.err);
    diverged.fails_with("weights are at their limit");
    assert!(folder.bytes("mine.nnue") == good, "the net was replaced");
    // A run that diverges later, because the rate rises over the whole run.
    let later = folder.run(&format!("{settings} --millions 0.2 --rate 50 --warm-up 0.2 --out other.nnue"));
    assert!(later.err.contains("other.checkpoint is from"), "{}", later.err);
    later.fails_with("the run diverged after");
    folder.run("export other.checkpoint --out last.nnue").ok();
}

#[test]
fn overfitting_warning_appears_once() {
    let folder = Folder::new("train-overfitting");
    let run = folder
        .run("some.bin --shape sf12 --batch 500 --threads 2 --millions 0.4 --every 0.05 --holdout 0.2 --out mine.nnue");
    let run = run.ok();
    let warnings = run.err.matches("the net overfits").count();
    assert_eq!(warnings, 1, "{}", run.err);
    assert!(run.err.contains("% above the training loss"), "{}", run.err);
}
