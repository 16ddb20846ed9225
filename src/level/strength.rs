//! Handicap of a level by its Elo.

use std::str::FromStr;

use anyhow::{Result, bail};

/// Minimum Elo of a level.
pub const ELO_MIN: i32 = 500;
/// Maximum Elo of a level. Without a level, the engine plays stronger.
pub const ELO_MAX: i32 = 3200;
/// The `Skill Level` that means full strength.
pub const SKILL_MAX: i32 = 20;

/// Minimum Elo of levels that use no theory.
const MIN_ELO_WITHOUT_THEORY: i32 = 2200;

/// Handicap of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handicap {
    /// Depth: maximum number of nodes of a search.
    pub nodes: u64,
    /// Judgement: standard deviation of the evaluation noise, in internal units (a pawn is about 208).
    pub noise: i32,
    /// Attention: probability in 1024ths of missing a move that people seldom see.
    pub oversight: u32,
    /// Opening theory: number of plies from the start of the game in which it is used.
    pub theory: u32,
}

/// A level whose handicap was calibrated by games. The handicaps of other levels are interpolated.
struct Anchor {
    elo: i32,
    handicap: Handicap,
}

/// Number of plies from the start of a game in which a level of `elo` uses theory; 0 if it uses none.
pub(super) const fn theory_plies(elo: i32) -> u32 {
    if elo >= MIN_ELO_WITHOUT_THEORY {
        return 0;
    }
    let plies = 2 + (elo - ELO_MIN) / 100;
    if plies < 16 { plies as u32 } else { 16 }
}

const fn anchor(elo: i32, nodes: u64, noise: i32, oversight: u32) -> Anchor {
    Anchor { elo, handicap: Handicap { nodes, noise, oversight, theory: theory_plies(elo) } }
}

// Calibrated by games of each level against its neighbours and against Glaurung (`docs/experiments.md`). The last
// anchor is extrapolated: it has about three doublings more nodes than the one before.
// CITE: the scale: Glaurung 2.2 in the rating list CCRL 40/15.
const ANCHORS: [Anchor; 7] = [
    anchor(500, 8, 130, 1020),
    anchor(820, 20, 115, 800),
    anchor(1460, 180, 95, 310),
    anchor(1860, 720, 70, 90),
    anchor(2190, 1450, 20, 30),
    anchor(2880, 19_000, 0, 0),
    anchor(3200, 175_000, 0, 0),
];

impl Handicap {
    /// Handicap of a level of `elo`. Between two anchors, nodes are interpolated geometrically, the rest linearly.
    pub fn of(elo: i32) -> Self {
        let elo = elo.clamp(ELO_MIN, ELO_MAX);
        let above = ANCHORS.iter().position(|anchor| anchor.elo >= elo);
        let above = above.unwrap_or(ANCHORS.len() - 1).max(1);
        let (low, high) = (&ANCHORS[above - 1], &ANCHORS[above]);
        let share = f64::from(elo - low.elo) / f64::from(high.elo - low.elo);
        let between = |a: f64, b: f64| a + (b - a) * share;
        let (a, b) = (low.handicap, high.handicap);
        Self {
            nodes: between((a.nodes as f64).ln(), (b.nodes as f64).ln()).exp().round() as u64,
            noise: between(a.noise.into(), b.noise.into()).round() as i32,
            oversight: between(a.oversight.into(), b.oversight.into()).round() as u32,
            theory: theory_plies(elo),
        }
    }
}

impl FromStr for Handicap {
    type Err = anyhow::Error;

    /// Parses an Elo, or `NODES,NOISE,OVERSIGHT` for a handicap without theory.
    fn from_str(text: &str) -> Result<Self> {
        let numbers: Vec<u32> = text.split(',').map(str::parse).collect::<Result<_, _>>().unwrap_or_default();
        match numbers[..] {
            [elo] => Ok(Self::of(elo.cast_signed())),
            [nodes, noise, oversight] => {
                Ok(Self { nodes: nodes.into(), noise: noise.cast_signed(), oversight, theory: 0 })
            }
            _ => bail!("'{text}' is neither an Elo nor NODES,NOISE,OVERSIGHT"),
        }
    }
}

/// The Elo of a `Skill Level`, an option of older programs and servers: 0 is [`ELO_MIN`], 19 is [`ELO_MAX`]. `None`
/// for [`SKILL_MAX`], which means full strength.
pub fn elo_of_skill(skill: i32) -> Option<i32> {
    let steps = SKILL_MAX - 1;
    (skill < SKILL_MAX).then(|| ELO_MIN + (ELO_MAX - ELO_MIN) * skill.max(0) / steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handicap_shrinks_with_elo() {
        for elo in (ELO_MIN..ELO_MAX).step_by(25) {
            let (a, b) = (Handicap::of(elo), Handicap::of(elo + 25));
            assert!(a.nodes <= b.nodes && a.noise >= b.noise && a.oversight >= b.oversight);
            assert_ne!(a, b, "{elo}");
        }
        assert_eq!(Handicap::of(0), Handicap::of(ELO_MIN));
        assert_eq!(Handicap::of(9999), Handicap::of(ELO_MAX));
        for anchor in &ANCHORS {
            assert_eq!(Handicap::of(anchor.elo), anchor.handicap);
        }
    }

    #[test]
    fn handicap_is_parsed_from_elo_or_three_numbers() {
        assert_eq!("1500".parse::<Handicap>().expect("an Elo"), Handicap::of(1500));
        let given = Handicap { nodes: 40, noise: 620, oversight: 600, theory: 0 };
        assert_eq!("40,620,600".parse::<Handicap>().expect("a handicap"), given);
        for text in ["", "strong", "1,2", "1,2,3,4", "-5"] {
            let error = text.parse::<Handicap>().expect_err(text).to_string();
            assert!(error.contains(&format!("'{text}'")), "{error}");
        }
    }

    #[test]
    fn skill_levels_span_the_elo_range() {
        assert_eq!(elo_of_skill(0), Some(ELO_MIN));
        assert_eq!(elo_of_skill(19), Some(ELO_MAX));
        assert_eq!(elo_of_skill(20), None);
    }
}
