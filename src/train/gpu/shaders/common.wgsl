// Buffers and helpers of all passes. The host prepends the sizes as constants: PIECE_ROWS, KINGS, ATTACK_ROWS,
// MAX_ATTACKS, L1, STACKS, SLOTS, CHUNK, CHUNKS, BIAS_PARTS, TURN.
//
// The positions of a batch are in slots, sorted by layer stack. Each stack starts at a multiple of 16 slots; unused
// slots have no pieces and no label. Accumulator 2 s is that of the side to move in slot s, 2 s + 1 that of the other
// side. A row of the transformer has the number KINGS * piece row + king bucket; the rows of attack inputs follow.

// Sizes in words of two 16-bit numbers.
const PACKED: u32 = L1 / 2u;
const QUARTER: u32 = L1 / 4u;
const FIRST_ATTACK: u32 = PIECE_ROWS * KINGS;
const ROWS: u32 = FIRST_ATTACK + ATTACK_ROWS;
// Active rows of an accumulator: those of at most 32 pieces, then those of attacks.
const MAX_PIECES: u32 = 32u;
const ACTIVE: u32 = MAX_PIECES + MAX_ATTACKS;
// Words of a row's bit set: one bit per accumulator.
const WORDS: u32 = SLOTS / 16u;
// Slots of a tile, and outputs of the first layer.
const TILE: u32 = 16u;
const H1: u32 = 16u;
const SKIP: u32 = 15u;
const H2: u32 = 32u;
const IN2: u32 = 30u;
const SQUARE: f32 = 127.0 / 128.0;
const ONE: f32 = 127.0;
// Fixed point of the rows on the processor: 1/32 unit.
const FIXED: f32 = 4064.0;

// Offsets of the dense tensors, in the order of `DenseParameters::tensors`.
const O_L1_WEIGHT: u32 = L1;
const O_L1_BIAS: u32 = O_L1_WEIGHT + STACKS * H1 * L1;
const O_L2_WEIGHT: u32 = O_L1_BIAS + STACKS * H1;
const O_L2_BIAS: u32 = O_L2_WEIGHT + STACKS * H2 * IN2;
const O_OUT_WEIGHT: u32 = O_L2_BIAS + STACKS * H2;
const O_OUT_BIAS: u32 = O_OUT_WEIGHT + STACKS * H2;
const O_PSQT: u32 = O_OUT_BIAS + STACKS;
const O_ATTACK_PSQT: u32 = O_PSQT + PIECE_ROWS * (KINGS + 1u) * STACKS;
const DENSE: u32 = O_ATTACK_PSQT + ATTACK_ROWS * STACKS;
// Offset of the rows of attack inputs in `table`.
const O_ATTACK: u32 = PIECE_ROWS * (KINGS + 1u) * L1;

// Offsets of a slot's values in `upper_values`.
const UPPER: u32 = 128u;
const U_HIDDEN1: u32 = 0u;
const U_HIDDEN2: u32 = 32u;
const U_DELTA2: u32 = 64u;
const U_DELTA1: u32 = 96u;
const U_DELTA_OUT: u32 = 112u;

// Constants of a step; the host has the same struct.
struct Step {
  slots: u32, chunks: u32, rounded: u32, train: u32,
  weight: f32, penalty: f32, lambda: f32, scale: f32,
  kind: u32, exponent: f32, steepness: f32, epsilon: f32,
  rate: f32, decay: f32, real_rate: f32, real_decay: f32,
  factor_decay: f32, first_one: f32, skip_one: f32, second_one: f32,
  output_one: f32, first_limit: f32, skip_limit: f32, second_limit: f32,
  output_limit: f32, attack_rate: f32, attack_decay: f32, unused: f32,
}

@group(0) @binding(0) var<uniform> step: Step;
// King buckets by square, four to a vector.
@group(0) @binding(1) var<uniform> king_buckets: array<vec4<u32>, 16>;

// The transformer: [piece row][king bucket, then the factor row][L1], then [attack input][L1], with Adam's moments.
@group(0) @binding(2) var<storage, read_write> table: array<f32>;
@group(0) @binding(3) var<storage, read_write> table_first: array<f32>;
@group(0) @binding(4) var<storage, read_write> table_second: array<f32>;
// [row][L1]: real plus factor in units of 1/127, as halves.
@group(0) @binding(5) var<storage, read_write> rows: array<u32>;
@group(0) @binding(5) var<storage, read_write> rows4: array<vec2<u32>>;
// The dense parameters, with Adam's moments, and as the passes read them (rounded or not).
@group(0) @binding(6) var<storage, read_write> dense: array<f32>;
@group(0) @binding(7) var<storage, read_write> dense_first: array<f32>;
@group(0) @binding(8) var<storage, read_write> dense_second: array<f32>;
@group(0) @binding(9) var<storage, read_write> theta: array<f32>;
@group(0) @binding(10) var<storage, read_write> gradient: array<f32>;
// [slot][8]: the records, with mirror, validity and stack in the last word.
@group(0) @binding(11) var<storage, read_write> records: array<u32>;
// [accumulator][ACTIVE / 2]: the active rows, two to a word. The rows of attacks start at entry MAX_PIECES.
@group(0) @binding(12) var<storage, read_write> lists: array<u32>;
// [slot]: piece count + 256 stack + 65536 validity + 131072 attack count, and the target's bits.
@group(0) @binding(13) var<storage, read_write> labels: array<vec2<u32>>;
// [row][WORDS]: the accumulators that use the row.
@group(0) @binding(14) var<storage, read_write> bits: array<atomic<u32>>;
// [row]: place of the row's first accumulator in `users`, and their number.
@group(0) @binding(15) var<storage, read_write> user_ranges: array<vec2<u32>>;
@group(0) @binding(16) var<storage, read_write> users: array<u32>;
// [accumulator][L1]: clipped sums in units of 1/127, as halves.
@group(0) @binding(17) var<storage, read_write> clipped: array<u32>;
@group(0) @binding(17) var<storage, read_write> clipped4: array<vec2<u32>>;
// [accumulator][L1]: deltas of the sums, as bfloat16.
@group(0) @binding(18) var<storage, read_write> deltas: array<u32>;
@group(0) @binding(18) var<storage, read_write> deltas4: array<vec2<u32>>;
// [slot][16]: sums of the first layer.
@group(0) @binding(19) var<storage, read_write> sums: array<f32>;
@group(0) @binding(20) var<storage, read_write> upper_values: array<f32>;
// [chunk]: first slot, number of slots, stack; then for each stack its first and last (exclusive) chunk.
@group(0) @binding(21) var<storage, read_write> chunks: array<vec4<u32>>;
// Partial sums of gradients: [chunk][16][L1], [chunk][1088], [part][L1].
@group(0) @binding(22) var<storage, read_write> first_parts: array<f32>;
@group(0) @binding(23) var<storage, read_write> upper_parts: array<f32>;
@group(0) @binding(24) var<storage, read_write> bias_parts: array<f32>;
// [tile][side][L1]: deltas summed over a tile.
@group(0) @binding(25) var<storage, read_write> tile_bias: array<f32>;
// [row][L1].
@group(0) @binding(26) var<storage, read_write> row_gradient: array<f32>;
@group(0) @binding(27) var<storage, read_write> losses: array<f32>;
@group(0) @binding(28) var<storage, read_write> total_loss: array<f32>;

fn bf16(x: f32) -> u32 {
  let u = bitcast<u32>(x);
  return (u + 0x7fffu + ((u >> 16u) & 1u)) >> 16u;
}

fn pack_bf16(x: vec2<f32>) -> u32 {
  return bf16(x.x) | (bf16(x.y) << 16u);
}

fn unpack_bf16(word: u32) -> vec2<f32> {
  return vec2<f32>(bitcast<f32>(word << 16u), bitcast<f32>(word & 0xffff0000u));
}

// Number of the workgroup in a grid of two dimensions.
fn flat_group(group: vec3<u32>, groups: vec3<u32>) -> u32 {
  return group.x + group.y * groups.x;
}

// 1 where a clipped unit passes its delta on.
fn open_unit(x: f32, one: f32) -> f32 {
  return select(0.0, 1.0, x > 0.0 && x < one);
}

fn row_of(accumulator: u32, entry: u32) -> u32 {
  let word = lists[accumulator * (ACTIVE / 2u) + entry / 2u];
  return select(word & 0xffffu, word >> 16u, (entry & 1u) == 1u);
}

// Number of a slot's attacks; both of its accumulators have as many.
fn attack_count(slot: u32) -> u32 {
  return labels[slot].x >> 17u;
}

// How often a row is active in an accumulator that uses it. Two rooks that attack a pawn activate their row twice.
fn uses_of(row: u32, accumulator: u32) -> u32 {
  if row < FIRST_ATTACK { return 1u; }
  var count = 0u;
  for (var at = 0u; at < attack_count(accumulator / 2u); at++) {
    count += select(0u, 1u, row_of(accumulator, MAX_PIECES + at) == row);
  }
  return count;
}
