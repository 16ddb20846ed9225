//! A review of games: marks, better lines and reasons, as annotated PGN, as one HTML page, as JSON.
//!
//! * `run`, `explain`: the commands, with their files and progress output; `played`: after a game at the terminal
//! * `study`: searches one game from its last move back and judges it; `analyst`: its searches
//! * `chance`, `mark`, `summary`: winning chances, marks by their loss, accuracy and averages
//! * `judge`, `rules`: the searches that a mark rests on, and good marks; draws by rule
//! * `phase`, `opening`: the parts of a game, and the opening's name
//! * `facts`, `material`, `motifs`, `features`: search results for a move, and facts about a line proved on the board
//! * `proof`: whether a line wins material against the defender's best replies
//! * `why`: claims, and sentences made from them
//! * `retry`: a value for each legal move at a mistake
//! * `clock`, `remarks`: clocks and the author's remarks, from the file
//! * `report`, `eval`: the contents of a review, for all outputs; `annotate`: PGN
//! * `page`, `lines`, `graph`, [`picture`]: HTML and SVG; `spoken`: moves and boards in words, for screen readers

mod analyst;
mod annotate;
mod chance;
mod clock;
mod eval;
pub(crate) mod explain;
mod facts;
mod features;
mod graph;
mod judge;
mod lines;
mod mark;
mod material;
mod motifs;
mod opening;
mod page;
mod phase;
pub(crate) mod picture;
pub(crate) mod played;
mod proof;
mod remarks;
mod report;
mod retry;
mod rules;
pub(crate) mod run;
mod spoken;
pub(crate) mod study;
mod summary;
mod why;
