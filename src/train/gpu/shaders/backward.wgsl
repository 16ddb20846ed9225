// Gradients of the dense parameters, and deltas of the accumulators.

var<workgroup> tile_deltas: array<f32, 256>;

// Deltas of the accumulators of a tile, for 128 pairs of products.
@compute @workgroup_size(128)
fn backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let start = group.y * TILE;
  if start >= step.slots { return; }
  for (var e = thread; e < 256u; e += 128u) {
    tile_deltas[e] = upper_values[(start + e / H1) * UPPER + U_DELTA1 + e % H1];
  }
  workgroupBarrier();
  let pair = group.x * 128u + thread;
  if pair >= PACKED { return; }
  let stack = (labels[start].x >> 8u) & 0xffu;
  var columns: array<vec2<f32>, 16>;
  for (var output = 0u; output < H1; output++) {
    let place = O_L1_WEIGHT + (stack * H1 + output) * L1 + 2u * pair;
    columns[output] = vec2<f32>(theta[place], theta[place + 1u]);
  }
  let side = pair / QUARTER;
  let column = pair % QUARTER;
  var first_bias = vec2<f32>(0.0);
  var second_bias = vec2<f32>(0.0);
  for (var slot = 0u; slot < TILE; slot++) {
    let is_valid = f32((labels[start + slot].x >> 16u) & 1u);
    var delta = vec2<f32>(step.penalty * is_valid);
    for (var output = 0u; output < H1; output++) { delta += tile_deltas[slot * H1 + output] * columns[output]; }
    let place = (2u * (start + slot) + side) * PACKED + column;
    let a = unpack2x16float(clipped[place]);
    let b = unpack2x16float(clipped[place + QUARTER]);
    let open_a = vec2<f32>(open_unit(a.x, ONE), open_unit(a.y, ONE));
    let open_b = vec2<f32>(open_unit(b.x, ONE), open_unit(b.y, ONE));
    let first = delta * b * open_a / ONE;
    let second = delta * a * open_b / ONE;
    deltas[place] = pack_bf16(first);
    deltas[place + QUARTER] = pack_bf16(second);
    first_bias += first;
    second_bias += second;
  }
  let out = (2u * group.y + side) * L1 + 2u * column;
  tile_bias[out] = first_bias.x;
  tile_bias[out + 1u] = first_bias.y;
  tile_bias[out + PACKED] = second_bias.x;
  tile_bias[out + PACKED + 1u] = second_bias.y;
}

// Partial sums of the transformer's bias gradient.
@compute @workgroup_size(64)
fn bias_part(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let column = group.y * 64u + thread;
  if column >= L1 { return; }
  let count = 2u * (step.slots / TILE);
  let share = (count + BIAS_PARTS - 1u) / BIAS_PARTS;
  var sum = 0.0;
  for (var at = group.x * share; at < min((group.x + 1u) * share, count); at++) { sum += tile_bias[at * L1 + column]; }
  bias_parts[group.x * L1 + column] = sum;
}

@compute @workgroup_size(64)
fn bias_sum(@builtin(global_invocation_id) id: vec3<u32>) {
  if id.x >= L1 { return; }
  var sum = 0.0;
  for (var part = 0u; part < BIAS_PARTS; part++) { sum += bias_parts[part * L1 + id.x]; }
  gradient[id.x] = sum;
}

// The first layer's gradient over a chunk, for 64 columns.
@compute @workgroup_size(256)
fn first_part(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let chunk = chunks[group.y];
  let column = group.x * 64u;
  let output = thread / 16u;
  let lane = thread % 16u;
  var sums4 = vec4<f32>(0.0);
  // The number of rounds is constant, because barriers must not depend on data. Slots after the chunk have no delta.
  for (var base = 0u; base < CHUNK; base += TILE) {
    for (var e = thread; e < 512u; e += 256u) {
      let x = products(chunk.x + base + e / 32u, column / 2u + e % 32u);
      inputs[(e / 32u) * PITCH + 2u * (e % 32u)] = x.x;
      inputs[(e / 32u) * PITCH + 2u * (e % 32u) + 1u] = x.y;
    }
    let slot_delta = upper_values[(chunk.x + base + thread / H1) * UPPER + U_DELTA1 + thread % H1];
    weights[thread] = select(0.0, slot_delta, base < chunk.y);
    workgroupBarrier();
    for (var slot = 0u; slot < TILE; slot++) {
      let delta = weights[slot * H1 + output];
      let x = slot * PITCH + lane;
      sums4 += delta * vec4<f32>(inputs[x], inputs[x + 16u], inputs[x + 32u], inputs[x + 48u]);
    }
    workgroupBarrier();
  }
  let out = (group.y * H1 + output) * L1 + column + lane;
  first_parts[out] = sums4.x;
  first_parts[out + 16u] = sums4.y;
  first_parts[out + 32u] = sums4.z;
  first_parts[out + 48u] = sums4.w;
}

@compute @workgroup_size(64)
fn first_sum(@builtin(global_invocation_id) id: vec3<u32>) {
  let stack = id.y;
  if id.x >= H1 * L1 { return; }
  let range = chunks[CHUNKS + stack];
  var sum = 0.0;
  for (var chunk = range.x; chunk < range.y; chunk++) { sum += first_parts[chunk * H1 * L1 + id.x]; }
  gradient[O_L1_WEIGHT + stack * H1 * L1 + id.x] = sum;
}

// Numbers of a chunk's partial gradient: 32 x 32 of the second layer (30 weights, the bias, one unused), 32 of the
// output, its bias, 16 biases of the first layer, padding.
const UPPER_PART: u32 = 1088u;

@compute @workgroup_size(64)
fn upper_part(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let chunk = chunks[group.y];
  let e = group.x * 64u + thread;
  var sum = 0.0;
  for (var slot = chunk.x; slot < chunk.x + chunk.y; slot++) {
    let values = slot * UPPER;
    var term = 0.0;
    if e < 1024u {
      term = upper_values[values + U_DELTA2 + e / 32u] * upper_values[values + U_HIDDEN1 + e % 32u];
    } else if e < 1056u {
      term = upper_values[values + U_DELTA_OUT] * upper_values[values + U_HIDDEN2 + e - 1024u];
    } else if e == 1056u {
      term = upper_values[values + U_DELTA_OUT];
    } else if e < 1073u {
      term = upper_values[values + U_DELTA1 + e - 1057u];
    }
    sum += term;
  }
  upper_parts[group.y * UPPER_PART + e] = sum;
}

@compute @workgroup_size(64)
fn upper_sum(@builtin(global_invocation_id) id: vec3<u32>) {
  let e = id.x;
  let stack = id.y;
  if e >= 1073u { return; }
  let range = chunks[CHUNKS + stack];
  var sum = 0.0;
  for (var chunk = range.x; chunk < range.y; chunk++) { sum += upper_parts[chunk * UPPER_PART + e]; }
  if e < 1024u {
    let row = stack * H2 + e / 32u;
    let input = e % 32u;
    if input < IN2 { gradient[O_L2_WEIGHT + row * IN2 + input] = sum; }
    if input == IN2 { gradient[O_L2_BIAS + row] = sum; }
  } else if e < 1056u {
    gradient[O_OUT_WEIGHT + stack * H2 + e - 1024u] = sum;
  } else if e == 1056u {
    gradient[O_OUT_BIAS + stack] = sum;
  } else {
    gradient[O_L1_BIAS + stack * H1 + e - 1057u] = sum;
  }
}

var<workgroup> team_sums: array<vec4<f32>, 256>;
var<workgroup> team_psqt: array<f32, 256>;

fn unpack4_bf16(words: vec2<u32>) -> vec4<f32> {
  return vec4<f32>(unpack_bf16(words.x), unpack_bf16(words.y));
}

// The gradient of a row for 128 columns: eight teams of 32 threads sum its users. The first group of columns also sums
// the piece-square values.
@compute @workgroup_size(256)
fn row_sum(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = group.x;
  let team = thread / 32u;
  let lane = thread % 32u;
  let column = group.y * 32u + lane;
  let range = user_ranges[row];
  let end = range.x + range.y;
  let entry = (row / KINGS) * (KINGS + 1u) + row % KINGS;
  let psqt = select(O_PSQT + entry * STACKS, O_ATTACK_PSQT + (row - FIRST_ATTACK) * STACKS, row >= FIRST_ATTACK) + lane;
  var sum = vec4<f32>(0.0);
  for (var at = range.x + team; at < end; at += 8u) { sum += unpack4_bf16(deltas4[users[at] * QUARTER + column]); }
  var value = 0.0;
  if group.y == 0u && lane < STACKS {
    for (var at = range.x + team; at < end; at += 8u) {
      let slot = users[at] / 2u;
      if ((labels[slot].x >> 8u) & 0xffu) == lane {
        value += upper_values[slot * UPPER + U_DELTA_OUT] * select(0.5, -0.5, (users[at] & 1u) == 1u);
      }
    }
  }
  team_sums[thread] = sum;
  team_psqt[thread] = value;
  workgroupBarrier();
  if team == 0u {
    for (var other = 1u; other < 8u; other++) {
      sum += team_sums[thread + 32u * other];
      value += team_psqt[thread + 32u * other];
    }
    let out = row * L1 + 4u * column;
    if range.y > 0u {
      row_gradient[out] = sum.x;
      row_gradient[out + 1u] = sum.y;
      row_gradient[out + 2u] = sum.z;
      row_gradient[out + 3u] = sum.w;
    }
    if group.y == 0u && lane < STACKS { gradient[psqt] = value; }
  }
}

// The gradient of the piece-square factor rows: the sum over the king buckets.
@compute @workgroup_size(64)
fn psqt_factor(@builtin(global_invocation_id) id: vec3<u32>) {
  let piece_row = id.x / STACKS;
  if piece_row >= PIECE_ROWS { return; }
  let block = O_PSQT + piece_row * (KINGS + 1u) * STACKS + id.x % STACKS;
  var sum = 0.0;
  for (var king = 0u; king < KINGS; king++) { sum += gradient[block + king * STACKS]; }
  gradient[block + KINGS * STACKS] = sum;
}
