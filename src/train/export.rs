//! From the float model to the integer net: factors folded in, weights rounded.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;

use super::calibrate::calibrate;
use super::checkpoint;
use super::model::Model;
use super::picture;
use super::plot;
use super::quantised::{ACTIVATION_ONE, OUTPUT_ONE, QuantisedNet, WEIGHT_ONE};
use super::report::ExportReport;
use super::run::picture_title;
use crate::data::Record;
use crate::util::atomic::write_atomically;

/// Arguments of `train export`.
#[derive(clap::Args, Clone, Debug)]
pub struct ExportArgs {
    /// Checkpoint of a run, also of one that is still going on
    pub checkpoint: PathBuf,
    /// File to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Multiplies what the net says [default: as the run was told]
    #[arg(long)]
    pub output_scale: Option<f32>,
    /// Draw the run's loss curves into this file too, as SVG
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

/// Makes a net of a checkpoint, and tells what the rounding cost.
///
/// # Errors
/// When the checkpoint is none, or the net cannot be written.
pub fn run(args: &ExportArgs) -> Result<()> {
    let (state, parameters, records) = checkpoint::read(&args.checkpoint)?;
    let scale = args.output_scale.unwrap_or(state.config.output_scale);
    let net = export(&parameters.model, scale, &records);
    let bytes = net.to_bytes();
    write_atomically(&args.out, |file| file.write_all(&bytes))?;
    if let Some(path) = &args.plot {
        let picture = picture::svg(&picture_title(&args.out), &state.history);
        write_atomically(path, |file| file.write_all(picture.as_bytes()))?;
    }
    eprintln!(
        "{} after {:.1} M positions\n{}{}\nwrote {}",
        args.checkpoint.display(),
        state.shown as f64 / 1e6,
        plot::text(&state.history),
        ExportReport::of((&parameters.model, scale), &net, &records),
        args.out.display()
    );
    Ok(())
}

/// The integer net of a model, as near to it on `records` as integers come.
pub fn export(model: &Model, output_scale: f32, records: &[Record]) -> QuantisedNet {
    let mut net = quantise(model, output_scale);
    calibrate(&mut net, model, output_scale, records);
    net
}

/// Rounds the model into the file's integers; weights beyond an integer's range are cut off.
///
/// Everything the net says is multiplied by `output_scale`: labels may be on another scale than the one that the
/// engine's search expects.
pub fn quantise(model: &Model, output_scale: f32) -> QuantisedNet {
    let dense = &model.dense;
    let output_one = OUTPUT_ONE * output_scale;
    let first_one = WEIGHT_ONE * ACTIVATION_ONE / model.form.activation.one();
    let mut net = QuantisedNet {
        transformer_bias: rounded(&dense.transformer_bias, ACTIVATION_ONE),
        l1_bias: hidden_bias(&dense.l1_bias),
        l1_weight: rounded_bytes(&dense.l1_weight, first_one),
        l2_bias: hidden_bias(&dense.l2_bias),
        l2_weight: rounded_bytes(&dense.l2_weight, WEIGHT_ONE),
        output_bias: (dense.output_bias.iter())
            .map(|bias| (bias * output_one).round() as i32)
            .collect(),
        output_weight: rounded_bytes(&dense.output_weight, output_one / ACTIVATION_ONE),
        ..QuantisedNet::zeros(model.form)
    };
    let (l1, features) = (model.form.l1, model.form.features);
    for king in 0..features.kings() {
        for piece_row in 0..features.piece_rows() {
            let at = features.file_row(piece_row, king) * l1;
            let row = &mut net.transformer_weight[at..][..l1];
            for (out, weight) in row.iter_mut().zip(model.row(piece_row, king)) {
                *out = (weight * ACTIVATION_ONE).round() as i16;
            }
        }
    }
    net
}

fn rounded(weights: &[f32], one: f32) -> Vec<i16> {
    weights.iter().map(|w| (w * one).round() as i16).collect()
}

/// The engine cuts a hidden sum off to a multiple of 64; half of that on top makes it round to the nearest.
fn hidden_bias(weights: &[f32]) -> Vec<i32> {
    let half = WEIGHT_ONE / 2.0;
    let one = ACTIVATION_ONE * WEIGHT_ONE;
    weights
        .iter()
        .map(|w| (w * one + half).round() as i32)
        .collect()
}

fn rounded_bytes(weights: &[f32], one: f32) -> Vec<i8> {
    weights.iter().map(|w| (w * one).round() as i8).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use shakmaty::{Bitboard, Chess, Color, Position, Role, Square};

    use super::*;
    use crate::data::Record;
    use crate::nnue::{AccumulatorStack, BoardView, Network};
    use crate::train::activation::Activation;
    use crate::train::features::{FeatureSet, record_of};
    use crate::train::form::{Form, WIDTHS};
    use crate::train::material::material_net;
    use crate::util::rng::SplitMix64;

    /// A record as the engine's networks see a board.
    struct Seen(Record);

    impl BoardView for Seen {
        fn turn(&self) -> Color {
            Color::from_black(self.0.black_to_move())
        }
        fn king(&self, color: Color) -> Square {
            self.pieces(color, Role::King).first().unwrap()
        }
        fn pieces(&self, color: Color, role: Role) -> Bitboard {
            let wanted = (u8::from(role) - 1, u8::from(color.is_black()));
            self.0
                .pieces()
                .filter(|piece| (piece.role, piece.colour) == wanted)
                .map(|piece| Square::new(u32::from(piece.square)))
                .collect()
        }
    }

    fn some_records() -> Vec<Record> {
        let mut rng = SplitMix64::new(21);
        let mut game = Chess::default();
        (0..60)
            .map(|_| {
                let moves = game.legal_moves();
                game.play_unchecked(moves[rng.below(moves.len())]);
                record_of(game.board(), game.turn().is_black())
            })
            .collect()
    }

    /// The engine's own reading of a file must be the plain forward pass of the net that was written.
    fn assert_same(bytes: &[u8], net: &QuantisedNet) {
        let network = Network::from_bytes(bytes).unwrap();
        assert_eq!(network.to_bytes(), bytes);
        let mut stack = AccumulatorStack::new(Arc::new(network));
        for record in some_records() {
            let plain = net.forward(&record);
            stack.reset();
            assert_eq!(stack.evaluate(&Seen(record)).raw(), plain);
        }
    }

    #[test]
    fn trainer_file_and_engine_agree() {
        for l1 in WIDTHS {
            for activation in Activation::ALL {
                check_export(Form {
                    activation,
                    ..Form::of_width(l1)
                });
            }
        }
        check_export(Form {
            features: FeatureSet::HalfKav2Hm,
            l1: 512,
            activation: Activation::Crelu,
            buckets: 8,
        });
    }

    fn check_export(form: Form) {
        let mut rng = SplitMix64::new(4);
        let mut model = Model::initial(&mut rng, form, 0.1);
        // Every stack its own.
        for weight in model.dense.l1_weight.iter_mut().step_by(5) {
            *weight += 0.02 * super::super::transformer::uniform(&mut rng);
        }
        for weight in model.transformer.iter_mut().step_by(3) {
            *weight += 0.1 * super::super::transformer::uniform(&mut rng);
        }
        let net = quantise(&model, 1.0);
        let read = QuantisedNet::from_bytes(&net.to_bytes()).unwrap();
        assert!(read.is_some_and(|read| read == net));
        assert_same(&net.to_bytes(), &net);
        let report = ExportReport::of((&model, 1.0), &net, &some_records());
        // The roundings of more inputs add up to more.
        let most = 5.0 * (form.l1 as f64 / 256.0).sqrt().max(1.0);
        assert!(report.mean < most, "{report}");
        let fitted = export(&model, 1.0, &some_records());
        let after = ExportReport::of((&model, 1.0), &fitted, &some_records());
        assert!(after.mean < report.mean, "{after} {report}");
        assert_same(&fitted.to_bytes(), &fitted);
    }

    #[test]
    fn the_engine_reads_the_material_net() {
        for squares in [false, true] {
            assert!(Network::from_bytes(&material_net(squares)).is_ok());
        }
    }
}
