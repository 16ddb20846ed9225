//! The description of a net: values that are read from its file.
//!
//! * [`shape`]: the numbers that describe a net, and the sizes and hashes that they imply
//! * [`own`]: the shape words of our own format
//!
//! An [`Architecture`] is a [`Shape`] that the kernels support: that of a published net with any width, or one of our
//! own format. It cannot be constructed in any other way. A feature set is a file in [`features`](super::features) and
//! a line in its lists; new connections of layers are a value of [`Topology`] and functions in `simd`.
// CITE: names, sizes and hashes of the published nets: Stockfish 12 to 19 and nnue-pytorch; checked against the files.

pub(crate) mod own;
mod shape;

use std::fmt;
use std::ops::Deref;

pub use shape::{Activation, LayerShape, Shape, Topology};
pub(crate) use shape::{MAX_WIDTH, PAIRED_COLUMNS, WIDTH_STEP};

use super::error::UnsupportedShape;
use super::features::attack_inputs::AttackInputs;
use super::features::threat_inputs::ThreatInputs;
use super::features::{BadTable, Features};
use super::version::{VERSION_1, VERSION_2, VERSION_3, VERSION_OWN};

/// A shape that the kernels support. Dereferences to its [`Shape`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Architecture(Shape);

impl Deref for Architecture {
    type Target = Shape;
    #[inline(always)]
    fn deref(&self) -> &Shape {
        &self.0
    }
}

/// The shape of SFNNv5 to v9, at the width of v5.
const SFNN_V5: Shape = Shape {
    version: VERSION_2,
    features: Features::HalfKav2Hm,
    threat_inputs: ThreatInputs::None,
    attacks: AttackInputs::None,
    l1: 1024,
    activation: Activation::Pairwise,
    topology: Topology::Skip { squares: true },
    hidden: [16, 32],
    buckets: 8,
    psqt: 8,
};

/// [`SFNN_V5`] with other layers: clipped ReLUs between all of them, with `h1` outputs of the first.
const fn plain(features: Features, l1: usize, h1: usize) -> Shape {
    Shape { features, l1, activation: Activation::Crelu, topology: Topology::Plain, hidden: [h1, 32], ..SFNN_V5 }
}

/// [`SFNN_V5`] with another width.
const fn wide(l1: usize) -> Shape {
    Shape { l1, ..SFNN_V5 }
}

/// The shape of SFNNv10.
const SFNN_V10: Shape = Shape { threat_inputs: ThreatInputs::Threats, activation: Activation::WidePairwise, ..SFNN_V5 };

/// The shape of SFNNv16.
const SFNN_V16: Shape = Shape {
    version: VERSION_3,
    threat_inputs: ThreatInputs::ThreatsAndPawnPairs,
    topology: Topology::Sfnnv16,
    hidden: [32, 32],
    ..SFNN_V10
};

/// The shapes of all published nets with the names that Stockfish's authors gave them, in the order in which the parser
/// compares them with a header.
const PUBLISHED: [(&str, Shape); 12] = [
    ("SFNNv1", Shape { version: VERSION_1, buckets: 1, psqt: 0, ..plain(Features::HalfKp, 256, 32) }),
    ("SFNNv2", plain(Features::HalfKav2, 512, 16)),
    ("SFNNv3", plain(Features::HalfKav2Hm, 1024, 8)),
    ("SFNN small", wide(128)),
    ("SFNNv5", SFNN_V5),
    ("SFNNv6", wide(1536)),
    ("SFNNv7", wide(2048)),
    ("SFNNv8", wide(2560)),
    ("SFNNv9", wide(3072)),
    ("SFNNv10", SFNN_V10),
    ("SFNNv16", SFNN_V16),
    // After v5, which has the same header.
    ("SFNNv4", Shape { topology: Topology::Skip { squares: false }, ..SFNN_V5 }),
];

impl Architecture {
    /// HalfKP 256x2-32-32-1, as in Stockfish 12 and 13.
    pub const HALF_KP: Self = Self(PUBLISHED[0].1);

    /// All widths of an accumulator.
    pub(crate) fn widths() -> impl Iterator<Item = usize> {
        (WIDTH_STEP..=MAX_WIDTH).step_by(WIDTH_STEP)
    }

    /// All architectures of the published nets, in the order in which the parser compares them with a header.
    pub fn published() -> impl Iterator<Item = Self> {
        PUBLISHED.into_iter().map(|(_, shape)| Self(shape))
    }

    /// The published architecture whose files have this version and file hash. Another width than the published one
    /// must also agree with the transformer's hash, because one wrong bit of the file hash can name another width.
    pub(super) fn of_header(version: u32, file_hash: u32, transformer_hash: Option<u32>) -> Option<Self> {
        let matches = |known: &Self| known.version == version && known.file_hash() == file_hash;
        let others = Self::widths().flat_map(|l1| PUBLISHED.map(|(_, shape)| Self(Shape { l1, ..shape })));
        let others = others.filter(|known| known.threat_inputs == ThreatInputs::None || known.has_whole_pairs());
        let mut others = others.filter(|known| transformer_hash == Some(known.transformer_hash()));
        Self::published().find(matches).or_else(|| others.find(matches))
    }

    /// All architectures of our own format with one of these widths.
    pub fn own(widths: &[usize]) -> impl Iterator<Item = Self> {
        widths.iter().flat_map(|&l1| own::of_width(l1))
    }

    /// The architecture described by the shape words of our own format, see [`own`].
    ///
    /// # Errors
    /// Names the first number that is not supported together with the numbers before it, and the supported values.
    pub fn from_words(words: [u32; own::WORDS]) -> Result<Self, UnsupportedShape> {
        own::from_words(words)
    }

    /// The architecture of nets trained with these settings: the published one if it exists, so that other engines can
    /// read the net, and otherwise one of our own. `hidden` has the outputs of the hidden layers; zeros stand for none.
    /// With `psqt`, a feature has a piece-square value for each layer stack.
    ///
    /// # Errors
    /// As for [`Self::from_words`].
    pub fn of_settings(
        features: Features,
        l1: usize,
        activation: Activation,
        hidden: [usize; 2],
        buckets: usize,
        psqt: bool,
    ) -> Result<Self, UnsupportedShape> {
        let psqt = if psqt { 8 } else { 0 };
        let own = own::like(&Shape { features, l1, buckets, psqt, ..own::layers(activation, hidden) })?;
        let same = |published: &Self| published.is_like(&own);
        Ok(Self::published().find(same).unwrap_or(own))
    }

    /// The architecture that results from training with this one as a warm start; `None` if it cannot be trained.
    pub(crate) fn trained(&self) -> Option<Self> {
        let found = self.with_features(self.features)?;
        self.is_like(&found).then_some(found)
    }

    /// The architecture of nets trained with these features and otherwise the settings of this one, if it exists.
    pub(crate) fn with_features(&self, features: Features) -> Option<Self> {
        self.with_features_and_width(features, self.l1)
    }

    /// As [`Self::with_features`], with another width too.
    pub(crate) fn with_features_and_width(&self, features: Features, l1: usize) -> Option<Self> {
        let &Shape { activation, hidden, buckets, psqt, .. } = &self.0;
        Self::of_settings(features, l1, activation, hidden, buckets, psqt > 0).ok()?.with_attacks(self.attacks)
    }

    /// The same architecture with these attack inputs, in our own format; `None` if the rows of pieces on squares are
    /// not mirrored by the own king, or the net has threat inputs.
    pub(crate) fn with_attacks(mut self, attacks: AttackInputs) -> Option<Self> {
        if attacks != AttackInputs::None {
            if !self.features.set().mirrored || self.threat_inputs != ThreatInputs::None {
                return None;
            }
            self.0.version = VERSION_OWN;
        }
        self.0.attacks = attacks;
        Some(self)
    }

    /// The same architecture with king buckets by a table, in our own format.
    ///
    /// # Errors
    /// Names what is wrong with the table.
    pub fn with_king_table(mut self, table: &[u8; 64]) -> Result<Self, BadTable> {
        self.0.features = self.features.with_table(table)?;
        self.0.version = VERSION_OWN;
        Ok(self)
    }

    /// Whether the shapes are equal, ignoring the version of their files.
    fn is_like(&self, other: &Self) -> bool {
        let version = self.version;
        self.0 == Shape { version, ..other.0 }
    }

    /// The same architecture without squares of the first layer's outputs (SFNNv4 and v5 have the same header).
    pub(super) fn without_squares(mut self) -> Self {
        if let Topology::Skip { squares } = &mut self.0.topology {
            *squares = false;
        }
        self
    }

    /// The name of the architecture in Stockfish, or "own" for our own format.
    fn generation(&self) -> String {
        if self.version == VERSION_OWN {
            return "own".into();
        }
        let named = PUBLISHED.iter().find(|(_, published)| *published == self.0);
        let (is_named, l1) = (named.is_some(), self.l1);
        let like = |(_, published): &&(&str, Shape)| Shape { l1, ..*published } == self.0;
        // SFNNv5 comes last among the shapes that differ in their width, and has the width that names them.
        let found = named.or_else(|| PUBLISHED.iter().filter(like).find(|(_, shape)| shape.l1 >= 512));
        let name = found.map_or("unknown", |(name, _)| name);
        if is_named { name.into() } else { format!("as {name}") }
    }

    /// The names of all published architectures, and a summary of our own.
    pub(crate) fn all_names() -> String {
        let published: Vec<String> = Self::published().map(|known| known.to_string()).collect();
        format!(
            "{}, and self-describing nets in its own format, but not the nets of Stockfish's development versions \
             between releases (such as SFNNv11 to v15)",
            published.join(", ")
        )
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.features)?;
        if self.threat_inputs != ThreatInputs::None {
            write!(f, " + {}", self.threat_inputs)?;
        }
        if self.attacks != AttackInputs::None {
            write!(f, " + attacks {}", self.attacks)?;
        }
        write!(f, " {}x2-{}", self.l1, self.sizes())?;
        match self.activation {
            Activation::Screlu => write!(f, " SCReLU")?,
            // Hidden layers with a skip connection imply products.
            Activation::Pairwise if self.is_direct() => write!(f, " pairwise")?,
            _ => {}
        }
        if self.psqt > 0 && self.version == VERSION_OWN {
            write!(f, " PSQT")?;
        }
        if self.buckets > 1 {
            write!(f, " x{}", self.buckets)?;
        }
        if self.version != VERSION_1 {
            write!(f, " ({})", self.generation())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, transformer hash, network hash, file hash, size of the parameters.
    type Known = (&'static str, u32, u32, u32, usize);

    #[rustfmt::skip]
    const KNOWN: [Known; 8] = [
        ("SFNNv1", 0x5D69_D7B8, 0x6333_7156, 0x3E5A_A6EE, 21_022_697 - 177),
        ("SFNNv2", 0x5F23_48B8, 0x6333_76CA, 0x3C10_3E72, 47_721_371 - 75),
        ("SFNNv3", 0x7F23_44B8, 0x6333_6A54, 0x1C10_2EEC, 47_001_243 - 75),
        ("SFNNv5", 0x7F23_44B8, 0x6333_6A4A, 0x1C10_2EF2, 47_001_499 - 75),
        ("SFNNv6", 0x7F23_40B8, 0x6333_6BCA, 0x1C10_2B72, 70_136_656),
        ("SFNN small", 0x7F23_4DB8, 0x6333_712A, 0x1C10_3C92, 6_514_768),
        ("SFNNv10", 0x8F23_44B8, 0x6333_6A4A, 0xEC10_2EF2, 131_329_360),
        ("SFNNv16", 0xCB68_5313, 0x6333_7116, 0xA85B_2205, 115_114_576),
    ];

    #[test]
    fn hashes_and_sizes_match_published_files() {
        for (name, transformer, network, file, size) in KNOWN {
            let found = PUBLISHED.iter().find(|published| published.0 == name);
            let shape = found.expect("a published name").1;
            assert_eq!(shape.transformer_hash(), transformer, "{name}");
            assert_eq!(shape.network_hash(), network, "{name}");
            assert_eq!(shape.file_hash(), file, "{name}");
            // Version, file hash, length of the description, and the transformer's hash.
            assert_eq!(16 + shape.transformer_size() + shape.stacks_size(), size, "{name}");
        }
    }

    #[test]
    fn headers_identify_published_shapes_of_any_width() {
        for (name, published) in PUBLISHED.into_iter().filter(|(name, _)| *name != "SFNNv4") {
            for l1 in Architecture::widths() {
                let shape = Shape { l1, ..published };
                if shape.threat_inputs != ThreatInputs::None && !shape.has_whole_pairs() {
                    continue;
                }
                let transformer = Some(shape.transformer_hash());
                let found = Architecture::of_header(shape.version, shape.file_hash(), transformer);
                assert_eq!(found.map(|found| found.0), Some(shape), "{name}, width {l1}");
            }
        }
    }

    #[test]
    fn published_shape_of_another_width_is_named_by_its_layers() {
        let name = |shape: Shape| Architecture(shape).to_string();
        assert_eq!(name(wide(768)), "HalfKAv2_hm 768x2-(15+1)-32-1 x8 (as SFNNv5)");
        assert_eq!(name(wide(128)), "HalfKAv2_hm 128x2-(15+1)-32-1 x8 (SFNN small)");
        assert_eq!(name(plain(Features::HalfKav2Hm, 512, 8)), "HalfKAv2_hm 512x2-8-32-1 x8 (as SFNNv3)");
    }
}
