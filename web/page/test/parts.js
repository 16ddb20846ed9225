// Parts of the page that the tests call, as `parts` of the page's window.

export { makeSquare } from "chessops/util";
export { backRank } from "../chess960.js";
export { Session, filesForNextVisit } from "../engine.js";
export { legalMoves, makeSan, positionOf } from "../rules.js";
export { Tree, treeOfPgn } from "../tree.js";
