// Adam, and the parameters as the passes read them.

// Weights in units, rounded as on the processor: to 1/32 unit, then to whole units if precision is simulated.
fn row_units(weights: vec2<f32>) -> u32 {
  let fixed = round(weights * FIXED);
  return pack2x16float(select(fixed / 32.0, floor(fixed / 32.0 + 0.5), step.rounded != 0u));
}

// All rows of the transformer.
@compute @workgroup_size(256)
fn fold(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let at = flat_group(group, groups) * 256u + thread;
  if at >= ROWS * PACKED { return; }
  let row = at / PACKED;
  if row >= FIRST_ATTACK {
    let place = O_ATTACK + (row - FIRST_ATTACK) * L1 + 2u * (at % PACKED);
    rows[at] = row_units(vec2<f32>(table[place], table[place + 1u]));
    return;
  }
  let block = (row / KINGS) * (KINGS + 1u) * L1 + 2u * (at % PACKED);
  let real = block + (row % KINGS) * L1;
  let factor = block + KINGS * L1;
  rows[at] = row_units(vec2<f32>(table[real] + table[factor], table[real + 1u] + table[factor + 1u]));
}

fn is_skip_row(place: u32) -> bool {
  return ((place - O_L1_WEIGHT) / L1) % H1 == SKIP;
}

// The dense parameters, rounded if the file's precision is simulated.
@compute @workgroup_size(64)
fn read_dense(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let at = flat_group(group, groups) * 64u + thread;
  if at >= DENSE { return; }
  var one = 0.0;
  if step.rounded != 0u {
    if at < O_L1_WEIGHT { one = ONE; }
    else if at < O_L1_BIAS { one = select(step.first_one, step.skip_one, is_skip_row(at)); }
    else if at >= O_L2_WEIGHT && at < O_L2_BIAS { one = step.second_one; }
    else if at >= O_OUT_WEIGHT && at < O_OUT_BIAS { one = step.output_one; }
  }
  let exact = dense[at];
  if one > 0.0 { theta[at] = round(exact * one) / one; } else { theta[at] = exact; }
}

// The new moments, and the change of the weight.
fn adam(first: f32, second: f32, slope: f32, rate: f32) -> vec3<f32> {
  let mean = 0.9 * first + 0.1 * slope;
  let square = 0.999 * second + 0.001 * slope * slope;
  return vec3<f32>(mean, square, rate * mean / (sqrt(square) + step.epsilon));
}

fn table_step(place: u32, slope: f32, rate: f32, decay: f32) {
  let next = adam(table_first[place], table_second[place], slope, rate);
  table_first[place] = next.x;
  table_second[place] = next.y;
  let weight = table[place];
  table[place] = weight - (next.z + decay * weight);
}

// Two columns of the rows that share a factor row. Rows without users keep weights and moments.
@compute @workgroup_size(64)
fn row_step(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let piece_row = group.x;
  let pair = group.y * 64u + thread;
  if pair >= PACKED { return; }
  let block = piece_row * (KINGS + 1u) * L1 + 2u * pair;
  var total = vec2<f32>(0.0);
  var is_used = false;
  for (var king = 0u; king < KINGS; king++) {
    let row = piece_row * KINGS + king;
    if user_ranges[row].y == 0u { continue; }
    is_used = true;
    let slope = vec2<f32>(row_gradient[row * L1 + 2u * pair], row_gradient[row * L1 + 2u * pair + 1u]);
    total += slope;
    table_step(block + king * L1, slope.x, step.real_rate, step.real_decay);
    table_step(block + king * L1 + 1u, slope.y, step.real_rate, step.real_decay);
  }
  if !is_used { return; }
  let factor = block + KINGS * L1;
  table_step(factor, total.x, step.rate, step.factor_decay);
  table_step(factor + 1u, total.y, step.rate, step.factor_decay);
  let shared_part = vec2<f32>(table[factor], table[factor + 1u]);
  for (var king = 0u; king < KINGS; king++) {
    let real = block + king * L1;
    rows[(piece_row * KINGS + king) * PACKED + pair] = row_units(shared_part + vec2<f32>(table[real], table[real + 1u]));
  }
}

// A weight of an attack input after its step, within the range of the file's bytes.
fn attack_weight(place: u32, slope: f32) -> f32 {
  table_step(place, slope, step.attack_rate, step.attack_decay);
  let weight = clamp(table[place], -1.0, 1.0);
  table[place] = weight;
  return weight;
}

// Two columns of an attack input, which all king buckets share like a factor row.
@compute @workgroup_size(64)
fn attack_step(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let row = FIRST_ATTACK + group.x;
  let pair = group.y * 64u + thread;
  if pair >= PACKED || user_ranges[row].y == 0u { return; }
  let place = O_ATTACK + group.x * L1 + 2u * pair;
  let slope = row * L1 + 2u * pair;
  let first = attack_weight(place, row_gradient[slope]);
  let second = attack_weight(place + 1u, row_gradient[slope + 1u]);
  rows[row * PACKED + pair] = row_units(vec2<f32>(first, second));
}

// The dense parameters, with weights clipped to the range of the file's bytes.
@compute @workgroup_size(64)
fn dense_step(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let at = flat_group(group, groups) * 64u + thread;
  if at >= DENSE { return; }
  let next = adam(dense_first[at], dense_second[at], gradient[at], step.rate);
  dense_first[at] = next.x;
  dense_second[at] = next.y;
  var limit = 0.0;
  if at >= O_L1_WEIGHT && at < O_L1_BIAS { limit = select(step.first_limit, step.skip_limit, is_skip_row(at)); }
  else if at >= O_L2_WEIGHT && at < O_L2_BIAS { limit = step.second_limit; }
  else if at >= O_OUT_WEIGHT && at < O_OUT_BIAS { limit = step.output_limit; }
  let weight = dense[at];
  if limit > 0.0 {
    dense[at] = clamp(weight - (next.z + step.decay * weight), -limit, limit);
  } else {
    dense[at] = weight - next.z;
  }
}
