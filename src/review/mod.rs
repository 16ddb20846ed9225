//! A review of games: marks, better lines and reasons, as annotated PGN, as one HTML page, as JSON.
//!
//! * `run`, `explain`: the commands, with their files and progress output
//! * `study`: searches one game from its last move back and judges it; `analyst`: its searches, and draws by rule
//! * `mark`: winning chances, marks by their loss, accuracy; `judge`: the searches that a mark rests on, and good marks
//! * `phase`: the parts of a game, and the opening's name; `remarks`: clocks and the author's remarks, from the file
//! * `facts`: search results for a move, and whether a line wins material against the defender's best replies
//! * `material`, `motifs`, `features`: facts about a line proved on the board; `why`: claims and their sentences
//! * `report`: the contents of a review, for all outputs; `annotate`: PGN; `page`: HTML; [`picture`]: boards as SVG

mod analyst;
mod annotate;
pub(crate) mod explain;
mod facts;
mod features;
mod judge;
mod mark;
mod material;
mod motifs;
mod page;
mod phase;
pub(crate) mod picture;
mod remarks;
mod report;
pub(crate) mod run;
pub(crate) mod study;
mod why;
