// Features and targets of the records, and the users of every row.

fn sigmoid(x: f32) -> f32 {
  return 1.0 / (1.0 + exp(-x));
}

// Occupied squares of a record, lowest first. Returns 64 if none is left.
fn lowest(low: u32, high: u32) -> u32 {
  if low != 0u { return firstTrailingBit(low); }
  if high != 0u { return 32u + firstTrailingBit(high); }
  return 64u;
}

// Code of the piece with this number: 2 * role + colour.
fn code_of(record: u32, piece: u32) -> u32 {
  return (records[record + 2u + piece / 8u] >> (4u * (piece % 8u))) & 15u;
}

// The mask that orients the board, and the king bucket, of the side `colour` with its king on `king`.
fn view_of(colour: u32, king: u32) -> vec2<u32> {
  let turn = select(0u, TURN, colour == 1u);
  let mirror = select(0u, 7u, king % 8u < 4u);
  let square = king ^ turn;
  return vec2<u32>(turn ^ mirror, king_buckets[square / 4u][square % 4u]);
}

fn target_of(record: u32) -> f32 {
  let score = f32(bitcast<i32>(records[record + 6u] << 16u) >> 16u);
  let expected = sigmoid(score / step.scale);
  let last = records[record + 7u];
  if ((last >> 8u) & 4u) != 0u { return expected; }
  let result = f32(bitcast<i32>(last << 24u) >> 24u);
  return step.lambda * expected + (1.0 - step.lambda) * (result + 1.0) / 2.0;
}

fn use_row(row: u32, accumulator: u32) {
  if step.train != 0u { atomicOr(&bits[row * WORDS + accumulator / 32u], 1u << (accumulator % 32u)); }
}

// Steps of the pieces in files and ranks: along lines, along diagonals, of knights. The first two diagonals are those of
// white pawns, the others those of black ones.
const STEPS = array<vec2<i32>, 16>(
  vec2(1, 0), vec2(-1, 0), vec2(0, 1), vec2(0, -1), vec2(1, 1), vec2(-1, 1), vec2(1, -1), vec2(-1, -1),
  vec2(1, 2), vec2(2, 1), vec2(-1, 2), vec2(-2, 1), vec2(1, -2), vec2(2, -1), vec2(-1, -2), vec2(-2, -1),
);

// First and last (exclusive) step of a piece.
fn steps_of(code: u32) -> vec2<u32> {
  let role = code >> 1u;
  if role == 0u { return select(vec2(4u, 6u), vec2(6u, 8u), (code & 1u) == 1u); }
  if role == 1u { return vec2(8u, 16u); }
  if role == 2u { return vec2(4u, 8u); }
  if role == 3u { return vec2(0u, 4u); }
  return vec2(0u, 8u);
}

// Code of an empty square.
const EMPTY: u32 = 15u;

// The pieces by square, four bits each.
var<private> board: array<u32, 8>;

fn code_at(square: u32) -> u32 {
  return (board[square / 8u] >> (4u * (square % 8u))) & 15u;
}

// The square of the first piece from `square` on along a step, if it is an enemy of the piece with this code; 64
// otherwise.
fn attacked(code: u32, square: u32, offset: vec2<i32>) -> u32 {
  let role = code >> 1u;
  let reach = select(1u, 7u, role >= 2u && role <= 4u);
  var at = vec2<i32>(vec2(square % 8u, square / 8u));
  for (var n = 0u; n < reach; n++) {
    at += offset;
    if any(at < vec2<i32>(0)) || any(at > vec2<i32>(7)) { return 64u; }
    let to = u32(8 * at.y + at.x);
    let other = code_at(to);
    if other != EMPTY { return select(64u, to, ((other ^ code) & 1u) == 1u); }
  }
  return 64u;
}

// The attack input of a piece that attacks another one on `to`, for the side `colour`; see `AttackView::row`.
fn attack_row(by: u32, on: u32, to: u32, colour: u32, turn: u32) -> u32 {
  let kind = (by >> 1u) + select(0u, 6u, (by & 1u) != colour);
  return FIRST_ATTACK + (kind * 6u + (on >> 1u)) * 64u + (to ^ turn);
}

// Lists the attacks on `board` for the accumulators of a slot, whose sides are `us` and the other with these masks.
// Returns their number, which can be more than there is room for.
fn list_attacks(slot: u32, us: u32, turns: vec2<u32>) -> u32 {
  var steps = STEPS;
  var count = 0u;
  var words = vec2(0u);
  for (var square = 0u; square < 64u; square++) {
    let code = code_at(square);
    if code == EMPTY { continue; }
    let range = steps_of(code);
    for (var at = range.x; at < range.y; at++) {
      let to = attacked(code, square, steps[at]);
      if to == 64u { continue; }
      if count < MAX_ATTACKS {
        let on = code_at(to);
        let shift = 16u * (count & 1u);
        let rows = vec2(attack_row(code, on, to, us, turns.x), attack_row(code, on, to, 1u - us, turns.y));
        words = select(words, vec2(0u), shift == 0u) | (rows << vec2(shift));
        for (var side = 0u; side < 2u; side++) {
          let accumulator = 2u * slot + side;
          lists[accumulator * (ACTIVE / 2u) + (MAX_PIECES + count) / 2u] = words[side];
          use_row(rows[side], accumulator);
        }
      }
      count++;
    }
  }
  return count;
}

// Unpacks a record: its active rows, and with `step.train` their users as bits. The order in which the bits are set
// does not affect the result.
@compute @workgroup_size(64)
fn unpack(@builtin(global_invocation_id) id: vec3<u32>) {
  let slot = id.x;
  if slot >= step.slots { return; }
  let record = slot * 8u;
  let last = records[record + 7u];
  let mirror = select(0u, 7u, (last & 0x10000u) != 0u);
  var kings = vec2<u32>(0u, 0u);
  var low = records[record];
  var high = records[record + 1u];
  let count = min(countOneBits(low) + countOneBits(high), MAX_PIECES);
  for (var word = 0u; word < 8u; word++) { board[word] = 0xffffffffu; }
  for (var piece = 0u; piece < count; piece++) {
    let square = lowest(low, high) ^ mirror;
    if low != 0u { low &= low - 1u; } else { high &= high - 1u; }
    let code = code_of(record, piece);
    board[square / 8u] ^= (code ^ EMPTY) << (4u * (square % 8u));
    if code == 10u { kings.x = square; }
    if code == 11u { kings.y = square; }
  }
  let us = (last >> 8u) & 1u;
  var turns = vec2(0u);
  for (var side = 0u; side < 2u; side++) {
    let colour = us ^ side;
    let view = view_of(colour, select(kings.x, kings.y, colour == 1u));
    turns = select(turns, vec2(view.x), vec2(side == 0u, side == 1u));
    let accumulator = 2u * slot + side;
    low = records[record];
    high = records[record + 1u];
    var word = 0u;
    for (var piece = 0u; piece < count; piece++) {
      let square = lowest(low, high) ^ mirror;
      if low != 0u { low &= low - 1u; } else { high &= high - 1u; }
      let code = code_of(record, piece);
      let role = code >> 1u;
      let is_other = (code & 1u) != colour && role != 5u;
      let plane = 2u * role + select(0u, 1u, is_other);
      let row = min(KINGS * (64u * plane + (square ^ view.x)) + view.y, ROWS - 1u);
      word |= row << (16u * (piece & 1u));
      if (piece & 1u) == 1u || piece + 1u == count {
        lists[accumulator * (ACTIVE / 2u) + piece / 2u] = word;
        word = 0u;
      }
      use_row(row, accumulator);
    }
  }
  var attacks = 0u;
  if ATTACK_ROWS > 0u { attacks = list_attacks(slot, us, turns); }
  // No game reaches a position with more attacks than there is room for. It has no weight.
  let is_valid = select(0u, (last >> 17u) & 1u, attacks <= MAX_ATTACKS);
  attacks = min(attacks, MAX_ATTACKS);
  let stack = (last >> 18u) & 63u;
  let shape = count | (stack << 8u) | (is_valid << 16u) | (attacks << 17u);
  labels[slot] = vec2<u32>(shape, bitcast<u32>(target_of(record)));
}

// Words of a bit set per thread.
const SPAN: u32 = (WORDS + 63u) / 64u;
var<workgroup> counts: array<u32, 256>;

// Number of entries in a part of the list of a row's users.
fn entries_of(row: u32, thread: u32) -> u32 {
  var count = 0u;
  for (var word = thread * SPAN; word < min((thread + 1u) * SPAN, WORDS); word++) {
    var left = atomicLoad(&bits[row * WORDS + word]);
    if row < FIRST_ATTACK {
      count += countOneBits(left);
      continue;
    }
    while left != 0u {
      count += uses_of(row, word * 32u + firstTrailingBit(left));
      left &= left - 1u;
    }
  }
  return count;
}

// Counts the users of a row.
@compute @workgroup_size(64)
fn count_users(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  counts[thread] = entries_of(group.x, thread);
  workgroupBarrier();
  if thread == 0u {
    var sum = 0u;
    for (var other = 0u; other < 64u; other++) { sum += counts[other]; }
    user_ranges[group.x].y = sum;
  }
}

// Turns the counts of all rows into ranges.
@compute @workgroup_size(256)
fn place_users(@builtin(local_invocation_index) thread: u32) {
  const SHARE: u32 = (ROWS + 255u) / 256u;
  let end = min((thread + 1u) * SHARE, ROWS);
  var sum = 0u;
  for (var row = thread * SHARE; row < end; row++) { sum += user_ranges[row].y; }
  counts[thread] = sum;
  workgroupBarrier();
  if thread == 0u {
    var start = 0u;
    for (var other = 0u; other < 256u; other++) {
      let count = counts[other];
      counts[other] = start;
      start += count;
    }
  }
  workgroupBarrier();
  var start = counts[thread];
  for (var row = thread * SHARE; row < end; row++) {
    user_ranges[row].x = start;
    start += user_ranges[row].y;
  }
}

// Lists the users of a row in order, each as often as it uses the row.
@compute @workgroup_size(64)
fn list_users(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = group.x;
  let range = user_ranges[row];
  counts[thread] = entries_of(row, thread);
  workgroupBarrier();
  if thread == 0u {
    var start = range.x;
    for (var other = 0u; other < 64u; other++) {
      let count = counts[other];
      counts[other] = start;
      start += count;
    }
  }
  workgroupBarrier();
  var place = counts[thread];
  for (var word = thread * SPAN; word < min((thread + 1u) * SPAN, WORDS); word++) {
    var left = atomicLoad(&bits[row * WORDS + word]);
    while left != 0u {
      let accumulator = word * 32u + firstTrailingBit(left);
      for (var times = uses_of(row, accumulator); times > 0u; times--) {
        users[place] = accumulator;
        place++;
      }
      left &= left - 1u;
    }
  }
}
