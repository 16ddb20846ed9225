// The threat: what the side that is not to move could do if it were to move.

import { fenOf, positionOf } from "./rules.js";

/** The position with the other side to move, or `null` if it is illegal: the side to move is in check. */
export function passed(position) {
  if (position.isCheck() || position.isEnd()) return null;
  const fields = fenOf(position).split(" ");
  fields[1] = fields[1] === "w" ? "b" : "w";
  fields[3] = "-";
  try {
    const other = positionOf(fields.join(" "));
    return other.isEnd() ? null : other;
  } catch {
    return null;
  }
}
