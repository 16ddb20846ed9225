//! English phrases of reviews.

use crate::board::{Color, Move, Position};
use crate::review::features::{Feature, FeatureKind};
use crate::review::material::list;
use crate::review::motifs::{Kind, Motif, role_name};
use crate::tools::variation::numbered;

/// A line in a coach's notation: `12.exd5 Nxd5 13.Bxd5`, `12...Nf6`.
pub(super) fn line(position: &Position, moves: &[Move]) -> String {
    let text = numbered(position, moves);
    text.replace("... ", "...").replace(". ", ".")
}

/// Name of a side: `White` or `Black`.
pub(super) fn name(color: Color) -> &'static str {
    color.fold_wb("White", "Black")
}

/// The form of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `12.Nf7 forks`
    Third,
    /// `12.Nf7 was better, forking`
    Gerund,
}

impl Form {
    fn choose<'a>(self, third: &'a str, gerund: &'a str) -> &'a str {
        match self {
            Self::Third => third,
            Self::Gerund => gerund,
        }
    }
}

/// Verb phrase that describes a motif.
pub(super) fn motif_phrase(motif: &Motif, form: Form) -> String {
    let first = motif.targets.first().map(ToString::to_string).unwrap_or_default();
    let second = motif.targets.get(1).map(ToString::to_string).unwrap_or_default();
    let names: Vec<String> = motif.targets.iter().map(ToString::to_string).collect();
    let of = |third: &str, gerund: &str, rest: &str| format!("{} {rest}", form.choose(third, gerund));
    match motif.kind {
        Kind::Hanging => {
            let role = motif.targets.first().map_or("piece", |target| role_name(target.role));
            let square = motif.targets.first().map(|target| target.square.to_string());
            let rest = format!("the hanging {role} on {}", square.unwrap_or_default());
            of("takes", "taking", &rest)
        }
        Kind::Fork => of("forks", "forking", &list(&names)),
        Kind::Pin => of("pins", "pinning", &format!("{first} to {second}")),
        Kind::PinnedDefender => {
            let rest = format!("what {first} protects but cannot recapture, because it is pinned");
            of("takes", "taking", &rest)
        }
        Kind::Skewer => of("skewers", "skewering", &list(&names)),
        Kind::DiscoveredAttack if first.starts_with("the king") => {
            of("gives", "giving", &format!("discovered check by {}", motif.piece))
        }
        Kind::DiscoveredAttack => {
            let rest = format!("an attack by {} on {first}", motif.piece);
            of("uncovers", "uncovering", &rest)
        }
        Kind::DoubleCheck => of("gives", "giving", "double check"),
        Kind::BackRank => of("mates", "mating", "on the back rank"),
        Kind::TrappedPiece => of("traps", "trapping", &first),
        Kind::OverloadedDefender if second.starts_with("the king") => {
            let rest = format!("{}, which also has to prevent mate", motif.piece);
            of("overloads", "overloading", &rest)
        }
        Kind::OverloadedDefender => {
            let rest = format!("{}, which protects both {first} and {second}", motif.piece);
            of("overloads", "overloading", &rest)
        }
        Kind::RemovalOfDefender => {
            let rest = format!("{first}, the only defender of {second}");
            of("takes", "taking", &rest)
        }
        Kind::Promotion => of("promotes", "promoting", "a pawn"),
        Kind::StalemateTrick => {
            let rest = format!("the {} for stalemate", role_name(motif.piece.role));
            of("offers", "offering", &rest)
        }
        Kind::Zwischenzug => {
            let square = motif.targets.first().map(|target| target.square.to_string());
            let rest = format!("in-between move before the recapture on {}", square.unwrap_or_default());
            of("is an", "an", &rest)
        }
        Kind::SoundSacrifice => {
            let rest = format!("the {}", role_name(motif.piece.role));
            of("sacrifices", "sacrificing", &rest)
        }
    }
}

/// Clause that describes a harm; `answer` is the opponent's first move, `side` the side that erred.
pub(super) fn harm(feature: &Feature, answer: &str, side: Color) -> String {
    let (us, them) = (name(side), name(!side));
    let man = |i: usize| feature.men.get(i).map(ToString::to_string).unwrap_or_default();
    let square = feature.men.first().map(|man| man.square);
    let file = square.map(|square| square.file().char()).unwrap_or_default();
    match feature.kind {
        FeatureKind::NoCastling => format!("{us} can no longer castle"),
        FeatureKind::DrivesAway => format!("{answer} drives {} away", man(1)),
        FeatureKind::QueensTraded => "the queens are traded".to_owned(),
        FeatureKind::BishopPair => format!("only {them} has the bishop pair"),
        FeatureKind::DoubledPawns => format!("{us} gets doubled pawns on the {file}-file"),
        FeatureKind::IsolatedPawn => format!("{us} gets an isolated {}", bare(&man(0))),
        FeatureKind::PassedPawn => format!("{them} gets a passed {}", bare(&man(0))),
        FeatureKind::PawnEnding => "only kings and pawns are left".to_owned(),
        FeatureKind::LosesPasser => format!("{us} loses the passed {}", bare(&man(0))),
        FeatureKind::KeepsPasser => format!("{them} keeps the passed {}", bare(&man(0))),
        FeatureKind::PasserAdvances => {
            format!("{them}'s passed pawn reaches {}", square.map(|square| square.to_string()).unwrap_or_default())
        }
        FeatureKind::Promotes => {
            format!("{them} promotes on {}", square.map(|square| square.to_string()).unwrap_or_default())
        }
        FeatureKind::OpenKing => format!("the line opens the {file}-file against {}", man(0)),
        FeatureKind::NoMoves => format!("{} has no square to go to", man(0)),
        FeatureKind::KingMarch => {
            format!("{them}'s king reaches {}", square.map(|square| square.to_string()).unwrap_or_default())
        }
        FeatureKind::Invasion => {
            let role = feature.men.first().map_or("rook", |man| role_name(man.role));
            format!("{them}'s {role} reaches {}", square.map(|square| square.to_string()).unwrap_or_default())
        }
        FeatureKind::Development => {
            let names: Vec<String> = feature.men.iter().map(ToString::to_string).collect();
            format!("{us} has not developed {}", list(&names))
        }
        FeatureKind::KingAttack => {
            let attackers: Vec<String> = feature.men.iter().skip(1).map(ToString::to_string).collect();
            let squares: Vec<String> = feature.squares.iter().map(ToString::to_string).collect();
            let verb = if attackers.len() == 1 { "attacks" } else { "attack" };
            let (attackers, squares) = (list(&attackers), list(&squares));
            format!("{attackers} {verb} {squares} next to {}, and only the king defends there", man(0))
        }
        _ => String::new(),
    }
}

/// Verb phrase that describes a purpose.
pub(super) fn purpose(feature: &Feature) -> String {
    let names: Vec<String> = feature.men.iter().map(ToString::to_string).collect();
    let man = |i: usize| names.get(i).cloned().unwrap_or_default();
    let squares: Vec<String> = feature.squares.iter().map(ToString::to_string).collect();
    let first = feature.men.first();
    let square = first.map(|man| man.square.to_string()).unwrap_or_default();
    let role = first.map_or("piece", |man| role_name(man.role));
    match feature.kind {
        FeatureKind::Castles => "castles".to_owned(),
        FeatureKind::Takes => format!("takes {}", man(0)),
        FeatureKind::Attacks => format!("attacks {}", man(1)),
        FeatureKind::Protects => format!("protects {}", man(0)),
        FeatureKind::Develops => format!("develops the {role}"),
        FeatureKind::Controls => {
            let noun = if squares.len() == 1 { "square" } else { "squares" };
            format!("controls the centre {noun} {}", list(&squares))
        }
        FeatureKind::OpensLines => {
            let noun = if names.len() == 1 { "a line" } else { "lines" };
            format!("opens {noun} for {}", list(&names))
        }
        FeatureKind::OpenFile => {
            let file = first.map(|man| man.square.file().char()).unwrap_or_default();
            format!("puts the {role} on the open {file}-file")
        }
        FeatureKind::AdvancesPasser => format!("advances the passed pawn to {square}"),
        _ => String::new(),
    }
}

/// `the pawn on d5` without its article.
fn bare(man: &str) -> String {
    man.trim_start_matches("the ").to_owned()
}

/// Clause that states who is better. `standing` is from the view of `side`: -3 (losing) to 3 (winning); 0 is level.
pub(super) fn stands(standing: i32, side: Color) -> String {
    let ahead = if standing < 0 { !side } else { side };
    let who = name(ahead);
    match standing.abs() {
        0 => "the game is level".to_owned(),
        1 => format!("{who} is slightly better"),
        2 => format!("{who} is clearly better"),
        _ => format!("{who} is winning"),
    }
}
