// From the active rows to the outputs, the loss, and the deltas of the first layer's sums.

var<workgroup> row_places: array<u32, 2u * ACTIVE>;

fn clip_units(sums: vec4<f32>) -> vec2<u32> {
  let units = clamp(sums, vec4(0.0), vec4(ONE));
  return vec2<u32>(pack2x16float(units.xy), pack2x16float(units.zw));
}

fn unpack4(words: vec2<u32>) -> vec4<f32> {
  return vec4<f32>(unpack2x16float(words.x), unpack2x16float(words.y));
}

fn bias4(column: u32) -> vec4<f32> {
  return round(FIXED * vec4<f32>(theta[column], theta[column + 1u], theta[column + 2u], theta[column + 3u])) / 32.0;
}

// Both clipped accumulators of a slot.
@compute @workgroup_size(128)
fn accumulate(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let slot = flat_group(group, groups);
  if slot >= step.slots { return; }
  let count = labels[slot].x & 0xffu;
  let attacks_end = MAX_PIECES + attack_count(slot);
  for (var e = thread; e < 2u * ACTIVE; e += 128u) {
    row_places[e] = row_of(2u * slot + e / ACTIVE, e % ACTIVE) * QUARTER;
  }
  workgroupBarrier();
  for (var at = thread; at < QUARTER; at += 128u) {
    // A thread sums the columns of one side that belong to a product.
    let side = at / (QUARTER / 2u);
    let p = at % (QUARTER / 2u);
    var a = bias4(4u * p);
    var b = bias4(4u * p + PACKED);
    for (var piece = 0u; piece < count; piece++) {
      let place = row_places[side * ACTIVE + piece] + p;
      a += unpack4(rows4[place]);
      b += unpack4(rows4[place + QUARTER / 2u]);
    }
    for (var entry = MAX_PIECES; entry < attacks_end; entry++) {
      let place = row_places[side * ACTIVE + entry] + p;
      a += unpack4(rows4[place]);
      b += unpack4(rows4[place + QUARTER / 2u]);
    }
    let out = (2u * slot + side) * QUARTER + p;
    clipped4[out] = clip_units(a);
    clipped4[out + QUARTER / 2u] = clip_units(b);
  }
}

// Inputs 2 pair and 2 pair + 1 of the first layer, with 1 for a product of two units of 1.
fn products(slot: u32, pair: u32) -> vec2<f32> {
  let place = (2u * slot + pair / QUARTER) * PACKED + pair % QUARTER;
  let product = unpack2x16float(clipped[place]) * unpack2x16float(clipped[place + QUARTER]);
  if step.rounded != 0u {
    // The engine truncates products to integers. They are multiples of 1/128, so the margin only absorbs errors.
    return floor(product / 128.0 + 1.0 / 256.0) * (128.0 / (ONE * ONE));
  }
  return product / (ONE * ONE);
}

// Columns of the first layer in workgroup memory, with padding against bank conflicts.
const PITCH: u32 = 68u;
var<workgroup> inputs: array<f32, 1088>;
var<workgroup> weights: array<f32, 1088>;

// Sums of the first layer for a tile.
@compute @workgroup_size(256)
fn first_layer(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let start = flat_group(group, groups) * TILE;
  if start >= step.slots { return; }
  let stack = (labels[start].x >> 8u) & 0xffu;
  let output = thread % H1;
  let slot = thread / H1;
  var sum = theta[O_L1_BIAS + stack * H1 + output];
  for (var column = 0u; column < L1; column += 64u) {
    for (var e = thread; e < 512u; e += 256u) {
      let x = products(start + e / 32u, column / 2u + e % 32u);
      inputs[(e / 32u) * PITCH + 2u * (e % 32u)] = x.x;
      inputs[(e / 32u) * PITCH + 2u * (e % 32u) + 1u] = x.y;
    }
    for (var e = thread; e < 1024u; e += 256u) {
      weights[(e / 64u) * PITCH + e % 64u] = theta[O_L1_WEIGHT + (stack * H1 + e / 64u) * L1 + column + e % 64u];
    }
    workgroupBarrier();
    for (var j = 0u; j < 64u; j++) { sum += inputs[slot * PITCH + j] * weights[output * PITCH + j]; }
    workgroupBarrier();
  }
  sums[(start + slot) * H1 + output] = sum;
}

// Value of a row for a stack: real plus factor, or that of an attack input.
fn psqt_value(row: u32, stack: u32) -> f32 {
  if row >= FIRST_ATTACK { return theta[O_ATTACK_PSQT + (row - FIRST_ATTACK) * STACKS + stack]; }
  let block = O_PSQT + (row / KINGS) * (KINGS + 1u) * STACKS + stack;
  return theta[block + (row % KINGS) * STACKS] + theta[block + KINGS * STACKS];
}

fn entropy(expected_target: f32, expected: f32) -> f32 {
  return -(expected_target * log(max(expected, 1e-7)) + (1.0 - expected_target) * log(max(1.0 - expected, 1e-7)));
}

// The loss of an output, and its derivative by the output.
fn loss_of(output: f32, expected_target: f32) -> vec2<f32> {
  let expected = sigmoid(output * step.steepness);
  let error = expected - expected_target;
  let rise = expected * (1.0 - expected) * step.steepness;
  if step.kind == 0u { return vec2<f32>(error * error, 2.0 * error * rise); }
  if step.kind == 1u {
    let size = abs(error);
    let root = select(0.0, pow(max(size, 1e-30), step.exponent - 1.0), size > 0.0 || step.exponent <= 1.0);
    return vec2<f32>(root * size, step.exponent * root * sign(error) * rise);
  }
  let least = entropy(expected_target, expected_target);
  return vec2<f32>(entropy(expected_target, expected) - least, error * step.steepness);
}

// The layers after the first, the loss, and the backward pass down to the first layer's sums.
@compute @workgroup_size(64)
fn upper(@builtin(global_invocation_id) id: vec3<u32>) {
  let slot = id.x;
  if slot >= step.slots { return; }
  let label = labels[slot];
  let count = label.x & 0xffu;
  let stack = (label.x >> 8u) & 0xffu;
  let is_valid = f32((label.x >> 16u) & 1u);
  let values = slot * UPPER;
  var psqt = 0.0;
  for (var piece = 0u; piece < count; piece++) {
    psqt += psqt_value(row_of(2u * slot, piece), stack) - psqt_value(row_of(2u * slot + 1u, piece), stack);
  }
  for (var entry = MAX_PIECES; entry < MAX_PIECES + attack_count(slot); entry++) {
    psqt += psqt_value(row_of(2u * slot, entry), stack) - psqt_value(row_of(2u * slot + 1u, entry), stack);
  }
  var hidden: array<f32, 30>;
  var back: array<f32, 30>;
  for (var unit = 0u; unit < SKIP; unit++) {
    let sum = sums[slot * H1 + unit];
    hidden[unit] = min(sum * sum * SQUARE, 1.0);
    hidden[SKIP + unit] = clamp(sum, 0.0, 1.0);
  }
  for (var unit = 0u; unit < IN2; unit++) {
    upper_values[values + U_HIDDEN1 + unit] = hidden[unit];
    back[unit] = 0.0;
  }
  // A constant input, whose weight is the bias.
  upper_values[values + U_HIDDEN1 + IN2] = 1.0;
  upper_values[values + U_HIDDEN1 + IN2 + 1u] = 0.0;
  var output = theta[O_OUT_BIAS + stack] + sums[slot * H1 + SKIP] + 0.5 * psqt;
  for (var unit = 0u; unit < H2; unit++) {
    let row = stack * H2 + unit;
    var sum = theta[O_L2_BIAS + row];
    for (var input = 0u; input < IN2; input++) { sum += theta[O_L2_WEIGHT + row * IN2 + input] * hidden[input]; }
    let activation = clamp(sum, 0.0, 1.0);
    upper_values[values + U_HIDDEN2 + unit] = activation;
    output += theta[O_OUT_WEIGHT + row] * activation;
  }
  let loss = loss_of(output, bitcast<f32>(label.y)) * is_valid;
  losses[slot] = loss.x;
  let delta = loss.y * step.weight;
  upper_values[values + U_DELTA_OUT] = delta;
  for (var unit = 0u; unit < H2; unit++) {
    let row = stack * H2 + unit;
    let delta2 = open_unit(upper_values[values + U_HIDDEN2 + unit], 1.0) * delta * theta[O_OUT_WEIGHT + row];
    upper_values[values + U_DELTA2 + unit] = delta2;
    for (var input = 0u; input < IN2; input++) { back[input] += theta[O_L2_WEIGHT + row * IN2 + input] * delta2; }
  }
  for (var unit = 0u; unit < SKIP; unit++) {
    let sum = sums[slot * H1 + unit];
    let squared = select(0.0, 2.0 * SQUARE * sum * back[unit], sum * sum * SQUARE < 1.0);
    upper_values[values + U_DELTA1 + unit] = squared + open_unit(sum, 1.0) * back[SKIP + unit];
  }
  upper_values[values + U_DELTA1 + SKIP] = delta;
}

var<workgroup> loss_sums: array<f32, 256>;

// The sum of all losses, in a fixed order.
@compute @workgroup_size(256)
fn sum_losses(@builtin(local_invocation_index) thread: u32) {
  var sum = 0.0;
  for (var slot = thread; slot < step.slots; slot += 256u) { sum += losses[slot]; }
  loss_sums[thread] = sum;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half /= 2u) {
    if thread < half { loss_sums[thread] += loss_sums[thread + half]; }
    workgroupBarrier();
  }
  if thread == 0u { total_loss[0] = loss_sums[0]; }
}
