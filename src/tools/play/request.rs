//! The lines that the user types: a move, or a command.

use anyhow::Result;

use crate::board::{Move, Position};

/// The line that introduces the commands.
pub(super) const SUMMARY: &str =
    "Type a move (Nf3, g1f3) or: back, hint, draw, resign, board, flip, moves, fen, clock, help, quit";

/// The answer to `help`.
pub(super) const HELP: &str = "\
Moves: Nf3 or g1f3; exd5 or e4d5; O-O castles; e8=Q promotes.
  back     take back your last move and the reply (also: undo)
  hint     show the move that the engine would play at full strength
  draw     offer a draw; accepted if 30 moves have been played and the last ten were level
  resign   lose the game
  board    show the board (also: an empty line)
  flip     show the board from the other side
  moves    list the moves of the game
  fen      print the position as FEN
  clock    show both clocks
  quit     end the game unfinished and save it (also: exit, Ctrl-D)";

/// A parsed line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    Move(Move),
    Back,
    Hint,
    Draw,
    Resign,
    Board,
    Flip,
    Moves,
    Fen,
    Clock,
    Help,
    Quit,
}

/// Parses a line in `position`.
pub(super) fn parse(position: &Position, line: &str) -> Result<Request> {
    Ok(match line.to_ascii_lowercase().as_str() {
        "back" | "undo" => Request::Back,
        "hint" => Request::Hint,
        "draw" => Request::Draw,
        "resign" => Request::Resign,
        "" | "board" => Request::Board,
        "flip" => Request::Flip,
        "moves" => Request::Moves,
        "fen" => Request::Fen,
        "clock" | "time" => Request::Clock,
        "help" | "?" | "h" => Request::Help,
        "quit" | "exit" | "q" => Request::Quit,
        _ => Request::Move(position.parse_move(line)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_summary_is_accepted_and_explained() {
        let position = Position::startpos();
        let (_, names) = SUMMARY.split_once("or: ").expect("a list");
        for name in names.split(", ") {
            assert!(!matches!(parse(&position, name), Ok(Request::Move(_)) | Err(_)), "{name}");
            assert!(name == "help" || HELP.contains(&format!("\n  {name} ")), "{name}");
        }
    }
}
