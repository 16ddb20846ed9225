// Static evaluation of a position by a network, in the engine's integers.
// CITE: feature sets, scales and shifts: Stockfish 14 to 17.1, as in `src/nnue/simd`, whose scalar kernel is the
// specification.
//
// The host prepends the sizes as constants: L1, H1, INPUTS, PIECE_ROWS, UNUSED, TURN, MIRRORED, STACKS, HAS_PSQT,
// PAIRWISE, SKIP and SQUARES. INPUTS is the number of words with the inputs of the first layer, four to a word.
//
// Two 16-bit weights share a word: the low half and the high half. Sums overflow as the engine's 16-bit accumulators do.

const THREADS: u32 = 128u;
// Blocks of eight numbers in a row.
const BLOCKS: u32 = L1 / 8u;
const H2: u32 = 32u;
const ONE: i32 = 127;

// Words of a layer stack in `dense`: the first layer's weights by groups of four inputs [INPUTS][H1] and biases, the
// second layer's rows [H2][8] and biases, the output's weights and bias.
const FIRST_BIAS: u32 = INPUTS * H1;
const SECOND: u32 = FIRST_BIAS + H1;
const SECOND_BIAS: u32 = SECOND + H2 * 8u;
const OUTPUT: u32 = SECOND_BIAS + H2;
const OUTPUT_BIAS: u32 = OUTPUT + 8u;
const STACK: u32 = OUTPUT_BIAS + 1u;

// The number of positions.
@group(0) @binding(0) var<uniform> batch: vec4<u32>;
// King buckets by square, four to a vector.
@group(0) @binding(1) var<uniform> king_buckets: array<vec4<u32>, 16>;
// [position][8].
@group(0) @binding(2) var<storage, read> positions: array<u32>;
// [row][BLOCKS].
@group(0) @binding(3) var<storage, read> weights: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> biases: array<vec4<u32>>;
// [row][STACKS].
@group(0) @binding(5) var<storage, read> psqt: array<i32>;
// [stack][STACK].
@group(0) @binding(6) var<storage, read> dense: array<u32>;
// [position]: the value in engine units, from the side to move's view.
@group(0) @binding(7) var<storage, read_write> values: array<i32>;

var<workgroup> squares: array<u32, 32>;
var<workgroup> codes: array<u32, 32>;
var<workgroup> kings: array<u32, 2>;
// [side][piece].
var<workgroup> rows: array<u32, 64>;
var<workgroup> piece_values: array<i32, 64>;
var<workgroup> inputs: array<u32, INPUTS>;
var<workgroup> parts: array<i32, THREADS>;
var<workgroup> first: array<i32, H1>;
var<workgroup> activated: array<u32, 32>;
var<workgroup> second_inputs: array<u32, 8>;
var<workgroup> products: array<i32, H2>;

// Square of the occupied square with this number.
fn nth_square(low: u32, high: u32, number: u32) -> u32 {
  let in_low = countOneBits(low);
  var left = select(number - in_low, number, number < in_low);
  var word = select(high, low, number < in_low);
  while left > 0u {
    word &= word - 1u;
    left--;
  }
  return firstTrailingBit(word) + select(32u, 0u, number < in_low);
}

// The mask that orients the board, and the king bucket, of the side `colour` with its king on `king`.
fn view_of(colour: u32, king: u32) -> vec2<u32> {
  let turn = select(0u, TURN, colour == 1u);
  let mirror = select(0u, 7u, MIRRORED && king % 8u < 4u);
  let square = king ^ turn;
  return vec2<u32>(turn ^ mirror, king_buckets[square / 4u][square % 4u]);
}

// The row of a piece for the side `colour`.
fn row_of(colour: u32, code: u32, square: u32, view: vec2<u32>) -> u32 {
  let role = code >> 1u;
  let is_other = (code & 1u) != colour && role != 5u;
  let plane = 2u * role + select(0u, 1u, is_other);
  return (UNUSED + PIECE_ROWS) * view.y + UNUSED + 64u * plane + (square ^ view.x);
}

// Sums of the words, and of their low halves. The carries of the low halves cancel in the difference.
struct Sums {
  words: vec4<u32>,
  low: vec4<i32>,
}

fn low_of(words: vec4<u32>) -> vec4<i32> {
  return (bitcast<vec4<i32>>(words) << vec4(16u)) >> vec4(16u);
}

fn plus(sums: Sums, words: vec4<u32>) -> Sums {
  return Sums(sums.words + words, sums.low + low_of(words));
}

// The 16-bit sums of the low halves, and of the high halves.
fn low_sums(sums: Sums) -> vec4<i32> {
  return low_of(bitcast<vec4<u32>>(sums.low));
}

fn high_sums(sums: Sums) -> vec4<i32> {
  return bitcast<vec4<i32>>(sums.words - bitcast<vec4<u32>>(sums.low)) >> vec4(16u);
}

fn clip(x: vec4<i32>) -> vec4<i32> {
  return clamp(x, vec4(0), vec4(ONE));
}

// Eight activations in two words.
fn packed(low: vec4<i32>, high: vec4<i32>) -> vec2<u32> {
  let pairs = bitcast<vec4<u32>>(low | (high << vec4(8u)));
  return vec2<u32>(pairs.x | (pairs.y << 16u), pairs.z | (pairs.w << 16u));
}

// Sums of a block of the biases.
fn bias_sums(block: u32) -> Sums {
  return Sums(biases[block], low_of(biases[block]));
}

// The activations of both accumulators.
fn activate_accumulators(thread: u32, count: u32) {
  if PAIRWISE {
    for (var at = thread; at < BLOCKS; at += THREADS) {
      let side = at / (BLOCKS / 2u);
      let block = at % (BLOCKS / 2u);
      var a = bias_sums(block);
      var b = bias_sums(block + BLOCKS / 2u);
      for (var piece = 0u; piece < count; piece++) {
        let place = rows[side * 32u + piece] * BLOCKS + block;
        a = plus(a, weights[place]);
        b = plus(b, weights[place + BLOCKS / 2u]);
      }
      let words = packed(
        (clip(low_sums(a)) * clip(low_sums(b))) >> vec4(7u),
        (clip(high_sums(a)) * clip(high_sums(b))) >> vec4(7u),
      );
      inputs[2u * at] = words.x;
      inputs[2u * at + 1u] = words.y;
    }
  } else {
    for (var at = thread; at < 2u * BLOCKS; at += THREADS) {
      let side = at / BLOCKS;
      let block = at % BLOCKS;
      var a = bias_sums(block);
      for (var piece = 0u; piece < count; piece++) { a = plus(a, weights[rows[side * 32u + piece] * BLOCKS + block]); }
      let words = packed(clip(low_sums(a)), clip(high_sums(a)));
      inputs[2u * at] = words.x;
      inputs[2u * at + 1u] = words.y;
    }
  }
}

fn clipped(sum: i32) -> u32 {
  return u32(clamp(sum >> 6u, 0, ONE));
}

// Larger sums have squares above the limit.
fn squared(sum: i32) -> u32 {
  let low = clamp(sum, -0x8000, 0x7fff);
  return min(u32(low * low) >> 19u, 127u);
}

// Input of the second layer with this number.
fn second_input(number: u32) -> u32 {
  if !(SKIP && SQUARES) {
    if number < H1 { return clipped(first[number]); }
    return 0u;
  }
  if number < H1 - 1u { return squared(first[number]); }
  if number < 2u * (H1 - 1u) { return clipped(first[number - (H1 - 1u)]); }
  return 0u;
}

// A skip connection of 1.0 (127 * 64) is 600 units (times 16): the sum times 9600 / 8128, or 150 / 127. The quotient
// and the remainder are scaled separately to avoid overflow.
fn skipped(sum: i32) -> i32 {
  let quotient = sum / 127;
  return 150 * quotient + 150 * (sum - 127 * quotient) / 127;
}

// One position per workgroup.
@compute @workgroup_size(128)
fn evaluate(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let position = group.x + group.y * groups.x;
  if position >= batch.x { return; }
  let at = 8u * position;
  let low = positions[at];
  let high = positions[at + 1u];
  let us = (positions[at + 7u] >> 8u) & 1u;
  let count = min(countOneBits(low) + countOneBits(high), 32u);
  let stack = select(0u, (max(count, 1u) + 3u) / 4u - 1u, STACKS > 1u);
  if thread < 2u { kings[thread] = 0u; }
  workgroupBarrier();
  if thread < count {
    let square = nth_square(low, high, thread);
    let code = (positions[at + 2u + thread / 8u] >> (4u * (thread % 8u))) & 15u;
    squares[thread] = square;
    codes[thread] = code;
    if code == 10u || code == 11u { kings[code - 10u] = square; }
  }
  workgroupBarrier();
  if thread < 64u {
    let side = thread / 32u;
    let piece = thread % 32u;
    var value = 0;
    if piece < count {
      let colour = us ^ side;
      let row = row_of(colour, codes[piece], squares[piece], view_of(colour, kings[colour]));
      rows[thread] = row;
      if HAS_PSQT { value = psqt[row * STACKS + stack]; }
    }
    piece_values[thread] = select(value, -value, side == 1u);
  }
  workgroupBarrier();
  activate_accumulators(thread, count);
  workgroupBarrier();
  let base = stack * STACK;
  {
    let output = thread % H1;
    var sum = 0;
    for (var group4 = thread / H1; group4 < INPUTS; group4 += THREADS / H1) {
      sum += dot4I8Packed(inputs[group4], dense[base + group4 * H1 + output]);
    }
    parts[thread] = sum;
  }
  workgroupBarrier();
  if thread < H1 {
    var sum = bitcast<i32>(dense[base + FIRST_BIAS + thread]);
    for (var part = 0u; part < THREADS / H1; part++) { sum += parts[part * H1 + thread]; }
    first[thread] = sum;
  }
  workgroupBarrier();
  if thread < 32u { activated[thread] = second_input(thread); }
  workgroupBarrier();
  if thread < 8u {
    let input = 4u * thread;
    second_inputs[thread] = activated[input] | (activated[input + 1u] << 8u) | (activated[input + 2u] << 16u)
      | (activated[input + 3u] << 24u);
  }
  workgroupBarrier();
  if thread < H2 {
    var sum = bitcast<i32>(dense[base + SECOND_BIAS + thread]);
    for (var word = 0u; word < 8u; word++) {
      sum += dot4I8Packed(second_inputs[word], dense[base + SECOND + thread * 8u + word]);
    }
    let weight = extractBits(bitcast<i32>(dense[base + OUTPUT + thread / 4u]), 8u * (thread % 4u), 8u);
    products[thread] = i32(clipped(sum)) * weight;
  }
  workgroupBarrier();
  if thread == 0u {
    var output = bitcast<i32>(dense[base + OUTPUT_BIAS]);
    var piece_value = 0;
    for (var i = 0u; i < 32u; i++) {
      output += products[i];
      piece_value += piece_values[i] + piece_values[i + 32u];
    }
    if SKIP { output += skipped(first[H1 - 1u]); }
    values[position] = (piece_value / 2 + output) / 16;
  }
}
