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
  let count = min(countOneBits(low) + countOneBits(high), 32u);
  for (var piece = 0u; piece < count; piece++) {
    let square = lowest(low, high) ^ mirror;
    if low != 0u { low &= low - 1u; } else { high &= high - 1u; }
    let code = code_of(record, piece);
    if code == 10u { kings.x = square; }
    if code == 11u { kings.y = square; }
  }
  let us = (last >> 8u) & 1u;
  for (var side = 0u; side < 2u; side++) {
    let colour = us ^ side;
    let view = view_of(colour, select(kings.x, kings.y, colour == 1u));
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
        lists[accumulator * 16u + piece / 2u] = word;
        word = 0u;
      }
      if step.train != 0u {
        atomicOr(&bits[row * WORDS + accumulator / 32u], 1u << (accumulator % 32u));
      }
    }
  }
  let is_valid = (last >> 17u) & 1u;
  let stack = (last >> 18u) & 63u;
  labels[slot] = vec2<u32>(count | (stack << 8u) | (is_valid << 16u), bitcast<u32>(target_of(record)));
}

// Words of a bit set per thread.
const SPAN: u32 = (WORDS + 63u) / 64u;
var<workgroup> counts: array<u32, 256>;

fn bits_of(row: u32, thread: u32) -> u32 {
  var count = 0u;
  for (var word = thread * SPAN; word < min((thread + 1u) * SPAN, WORDS); word++) {
    count += countOneBits(atomicLoad(&bits[row * WORDS + word]));
  }
  return count;
}

// Counts the users of a row.
@compute @workgroup_size(64)
fn count_users(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  counts[thread] = bits_of(group.x, thread);
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

// Lists the users of a row in order.
@compute @workgroup_size(64)
fn list_users(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = group.x;
  let range = user_ranges[row];
  counts[thread] = bits_of(row, thread);
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
      users[place] = word * 32u + firstTrailingBit(left);
      place++;
      left &= left - 1u;
    }
  }
}
