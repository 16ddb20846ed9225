//! Picture of a network's first layer: the weights of each unit as boards, one for each kind of piece.
// CITE: the arrangement follows visualize.py of nnue-pytorch.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::nnue::Network;
use crate::util::atomic::write_over;
use crate::util::files::Kind;

/// Edge of a square in pixels.
const SQUARE: usize = 2;
/// Distance between boards and between units, in squares.
const GAP: usize = 1;
const UNIT_GAP: usize = 3;
/// Units in a row of the picture.
const COLUMNS: usize = 16;
/// Share of the weights that is not saturated.
const SHARE: f64 = 0.999;
/// The kind of file that a picture may replace.
const PNG: Kind = Kind { name: "a PNG picture", is: |head| head.starts_with(b"\x89PNG\r\n\x1a\n") };

/// Writes the picture and returns the weight that has the full colour.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn write(network: &Network, path: &Path) -> Result<f32> {
    let boards = Boards::of(network);
    let limit = boards.limit();
    let picture = boards.draw(limit);
    let bytes = picture.png().context("cannot encode the picture")?;
    write_over(path, &PNG, |file| file.write_all(&bytes))?;
    Ok(limit)
}

/// The mean weights over all king buckets: `[unit][plane][square]`.
struct Boards {
    weights: Vec<f32>,
    units: usize,
    planes: usize,
}

impl Boards {
    fn of(network: &Network) -> Self {
        let (shape, weights) = (network.architecture(), network.transformer().weights());
        let set = shape.features.set();
        let (units, planes) = (shape.l1, set.planes);
        let mut sums = vec![0.0; units * set.piece_rows()];
        for king in 0..set.kings as u16 {
            for piece_row in 0..set.piece_rows() {
                let row = usize::from(set.row(king, piece_row as u16));
                for unit in 0..units {
                    sums[unit * set.piece_rows() + piece_row] += f32::from(weights[row * units + unit]);
                }
            }
        }
        sums.iter_mut().for_each(|sum| *sum /= set.kings as f32);
        Self { weights: sums, units, planes }
    }

    /// The weight with the full colour; only a few are larger.
    fn limit(&self) -> f32 {
        let mut sizes: Vec<f32> = self.weights.iter().map(|weight| weight.abs()).collect();
        sizes.sort_by(f32::total_cmp);
        let at = (SHARE * (sizes.len() - 1) as f64) as usize;
        sizes[at].max(1.0)
    }

    /// Draws the units in rows. A unit has a row of boards for its own pieces, pawn to king, and one for the enemy's.
    fn draw(&self, limit: f32) -> Picture {
        // If both kings share the last plane, it is in the row of the own pieces.
        let columns = self.planes.div_ceil(2);
        let (width, height) = (columns * (8 + GAP) - GAP, 2 * (8 + GAP) - GAP);
        let rows = self.units.div_ceil(COLUMNS);
        let mut picture =
            Picture::white(COLUMNS * (width + UNIT_GAP) + UNIT_GAP, rows * (height + UNIT_GAP) + UNIT_GAP);
        for unit in 0..self.units {
            let left = UNIT_GAP + unit % COLUMNS * (width + UNIT_GAP);
            let top = UNIT_GAP + unit / COLUMNS * (height + UNIT_GAP);
            for plane in 0..self.planes {
                let (x, y) = (left + plane / 2 * (8 + GAP), top + plane % 2 * (8 + GAP));
                let board = &self.weights[64 * (unit * self.planes + plane)..][..64];
                for (square, weight) in board.iter().enumerate() {
                    picture.set(x + square % 8, y + 7 - square / 8, colour(weight / limit));
                }
            }
        }
        picture
    }
}

/// Red for positive values, blue for negative ones, grey at 0, so that the boards stand out from the white background.
fn colour(value: f32) -> [u8; 3] {
    let strength = value.abs().min(1.0);
    let fade = |to: f32| (225.0 + (to - 225.0) * strength) as u8;
    if value >= 0.0 { [fade(190.0), fade(20.0), fade(30.0)] } else { [fade(20.0), fade(60.0), fade(190.0)] }
}

/// Picture in squares of [`SQUARE`] pixels.
struct Picture {
    width: usize,
    height: usize,
    colours: Vec<[u8; 3]>,
}

impl Picture {
    fn white(width: usize, height: usize) -> Self {
        Self { width, height, colours: vec![[255; 3]; width * height] }
    }

    fn set(&mut self, x: usize, y: usize, colour: [u8; 3]) {
        self.colours[y * self.width + x] = colour;
    }

    fn png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let (width, height) = (self.width * SQUARE, self.height * SQUARE);
        let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let pixel = |at: usize| self.colours[at / width / SQUARE * self.width + at % width / SQUARE];
        let pixels: Vec<u8> = (0..width * height).flat_map(pixel).collect();
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&pixels)?;
        writer.finish()?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_all_buckets_have_their_board_and_colour() {
        let network = Network::embedded();
        let boards = Boards::of(&network);
        assert_eq!(boards.weights.len(), boards.units * boards.planes * 64);
        let shape = network.architecture();
        let set = shape.features.set();
        // The mean of an own knight on e4 (plane 2, square 28) for unit 3.
        let weights = network.transformer().weights();
        let sum: f32 = (0..set.kings as u16)
            .map(|king| f32::from(weights[usize::from(set.row(king, 64 * 2 + 28)) * shape.l1 + 3]))
            .sum();
        let mean = sum / set.kings as f32;
        assert_eq!(boards.weights[64 * (3 * boards.planes + 2) + 28], mean);
        let limit = boards.limit();
        let picture = boards.draw(limit);
        let columns = boards.planes.div_ceil(2);
        let x = UNIT_GAP + 3 * (columns * 9 - 1 + UNIT_GAP) + 9 + 4;
        assert_eq!(picture.colours[(UNIT_GAP + 4) * picture.width + x], colour(mean / limit));
    }

    #[test]
    fn picture_is_a_png_of_its_size() {
        let mut picture = Picture::white(3, 2);
        picture.set(2, 1, [1, 2, 3]);
        let bytes = picture.png().expect("an encoded picture");
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        reader.next_frame(&mut pixels).expect("pixels");
        assert_eq!((reader.info().width, reader.info().height), (6, 4));
        assert_eq!((pixels[..3].to_vec(), pixels[pixels.len() - 3..].to_vec()), (vec![255; 3], vec![1, 2, 3]));
    }
}
