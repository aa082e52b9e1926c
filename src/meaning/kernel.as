/**
 * The arithmetic of the sentence model in AssemblyScript: linear layers on integers, the rest on floats.
 *
 * scripts/build-kernel.mjs compiles this file into kernel-bytes.ts. It allocates nothing: the caller lays out the memory.
 * Addresses are bytes and multiples of 16. Rows of tokens come by fours and at the end perhaps a pair, so that no loop needs a
 * remainder. V8 swaps its first, simple code of a function for better code only when the function is called again: callers should
 * call often, with little to do each time.
 * `pmin` and `pmax` are one instruction, where `min` and `max` take eight to be right about NaN.
 * It is compiled twice: with the dot product of bytes that processors have (relaxed SIMD), and without. Both give the same numbers.
 */
import { exp, HALF_SHIFT, halfBits, largest, maxOf, rounded, sumOf, toHalf } from "./lanes";

/** Activations are whole numbers from 0 to this: with more, the sum of two products would not fit 16 bits, as processors have it. */
const ACTIVATION_MAX: f32 = 127;
const WEIGHT_MAX: f32 = 127;
/** Bytes of four activations: without relaxed SIMD they are multiplied as numbers of 16 bits. */
const FOUR: usize = ASC_FEATURE_RELAXED_SIMD ? 4 : 8;
/** Of four weights of one sign: 32767 / 127, less the half that rounding adds to each. */
const FOUR_WEIGHTS_MAX: f32 = 256;
/** A larger factor would not fit a float together with 2^112; a row it holds for has weights below 0.0022. */
const FACTOR_MAX: f32 = 60000;

/** Float16 to float32; `count` is a multiple of 8. True when all are finite. */
export function widen(from: usize, to: usize, count: i32): bool {
  const shift = f32x4.splat(HALF_SHIFT);
  let worst = i16x8.splat(0);
  for (const end = from + (<usize>count << 1); from < end; from += 16, to += 32) {
    const half = v128.load(from);
    worst = i16x8.max_u(worst, v128.and(half, i16x8.splat(0x7fff)));
    v128.store(to, f32x4.mul(halfBits(i32x4.extend_low_i16x8_s(half)), shift));
    v128.store(to, f32x4.mul(halfBits(i32x4.extend_high_i16x8_s(half)), shift), 16);
  }
  return largest(worst) < 0x7c00;
}

/**
 * A float16 matrix to int8, every row scaled to its own largest weight: after a pause the weights come from memory, and half the
 * bytes are half the wait. Four rows stand side by side, four columns of each in turn, so that `linear` reads one stream. `rows` is a
 * multiple of 4, `columns` of 8. `sums` gets the sum of each row. True when all are finite.
 */
export function packWeights(from: usize, to: usize, scales: usize, sums: usize, rows: i32, columns: i32): bool {
  let finite = true;
  for (let row = 0; row < rows; row++) {
    const factor = factorOf(from, columns);
    if (factor < 0) finite = false;
    const sum = packRow(from, to + (<usize>(row & 3) << 2), columns, factor * HALF_SHIFT);
    store<f32>(scales, 1 / factor);
    store<f32>(sums, <f32>sum / factor);
    from += <usize>columns << 1;
    if ((row & 3) == 3) to += <usize>columns << 2;
    scales += 4;
    sums += 4;
  }
  return finite;
}

/**
 * Adds a change to a float16 matrix where it stands: four bits a number, the lower half of a byte first, times the row's scale.
 * `columns` is a multiple of 8.
 */
export function addChange(to: usize, change: usize, scales: usize, rows: i32, columns: i32): void {
  for (let row = 0; row < rows; row++) {
    const scale = f32x4.splat(load<f32>(scales));
    for (const end = to + (<usize>columns << 1); to < end; to += 16, change += 4) {
      const pairs = v128.load32_zero(change);
      const low = v128.and(pairs, i8x16.splat(15));
      const high = i8x16.shr_u(pairs, 4);
      const bits = v128.shuffle<i8>(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      const steps = i16x8.extend_low_i8x16_s(i8x16.sub(v128.xor(bits, i8x16.splat(8)), i8x16.splat(8)));
      const half = v128.load(to);
      const one = changed(i32x4.extend_low_i16x8_s(half), i32x4.extend_low_i16x8_s(steps), scale);
      const two = changed(i32x4.extend_high_i16x8_s(half), i32x4.extend_high_i16x8_s(steps), scale);
      v128.store(to, v128.shuffle<i16>(one, two, 0, 2, 4, 6, 8, 10, 12, 14));
    }
    scales += 4;
  }
}

function changed(half: v128, steps: v128, scale: v128): v128 {
  const before = f32x4.mul(halfBits(half), f32x4.splat(HALF_SHIFT));
  return toHalf(f32x4.add(before, f32x4.mul(f32x4.convert_i32x4_s(steps), scale)));
}

/**
 * What a row of weights is multiplied by; -1 when one of them is not finite. The four products that `dots` adds in 16 bits must fit
 * there, whatever the activations: most rows are small enough anyway.
 */
function factorOf(from: usize, columns: i32): f32 {
  let worst = i16x8.splat(0);
  let most = f32x4.splat(0);
  for (const end = from + (<usize>columns << 1); from < end; from += 16) {
    const half = v128.load(from);
    worst = i16x8.max_u(worst, v128.and(half, i16x8.splat(0x7fff)));
    const low = halfBits(i32x4.extend_low_i16x8_s(half));
    const high = halfBits(i32x4.extend_high_i16x8_s(half));
    const above = f32x4.add(f32x4.pmax(low, f32x4.splat(0)), f32x4.pmax(high, f32x4.splat(0)));
    const below = f32x4.sub(above, f32x4.add(low, high));
    most = f32x4.pmax(most, f32x4.pmax(plusNeighbour(above), plusNeighbour(below)));
  }
  const peak = largest(worst);
  if (peak >= 0x7c00) return -1;
  const crowd = FOUR_WEIGHTS_MAX / (maxOf(most) * HALF_SHIFT);
  return min<f32>(FACTOR_MAX, min<f32>(crowd, WEIGHT_MAX / (reinterpret<f32>(peak << 13) * HALF_SHIFT)));
}

function plusNeighbour(sums: v128): v128 {
  return f32x4.add(sums, v128.shuffle<i32>(sums, sums, 1, 0, 3, 2));
}

/** Gives the sum of the row as it was packed. */
function packRow(from: usize, to: usize, count: i32, factor: f32): i32 {
  const scale = f32x4.splat(factor);
  let sums = i32x4.splat(0);
  for (const end = to + (<usize>count << 2); to < end; from += 16, to += 32) {
    const half = v128.load(from);
    const low = rounded(halfBits(i32x4.extend_low_i16x8_s(half)), scale);
    const high = rounded(halfBits(i32x4.extend_high_i16x8_s(half)), scale);
    sums = i32x4.add(sums, i32x4.add(low, high));
    const both = i16x8.narrow_i32x4_s(low, high);
    const fours = i8x16.narrow_i16x8_s(both, both);
    v128.store_lane<i32>(to, fours, 0);
    v128.store_lane<i32>(to, fours, 1, 16);
  }
  const pairs = i32x4.add(sums, v128.shuffle<i32>(sums, sums, 2, 3, 0, 1));
  return i32x4.extract_lane(pairs, 0) + i32x4.extract_lane(pairs, 1);
}

/**
 * Float32 rows to whole numbers, from the lowest number of a row to its highest: `ranges` gets the step and the lowest of each. The tokens of
 * a block stand side by side, four columns of each in turn. `columns` is a multiple of 16.
 */
export function packActivations(from: usize, to: usize, ranges: usize, tokens: i32, columns: i32): void {
  for (let left = tokens; left > 0; left -= 4) {
    const beside = min(left, 4);
    for (let i = 0; i < beside; i++) {
      packToken(from, to + i * FOUR, ranges, columns, beside * FOUR);
      from += <usize>columns << 2;
      ranges += 8;
    }
    to += ((columns * beside) >> 2) * FOUR;
  }
}

function packToken(from: usize, to: usize, range: usize, columns: i32, stride: usize): void {
  const end = from + (<usize>columns << 2);
  let lows = v128.load(from);
  let highs = lows;
  for (let at = from + 16; at < end; at += 16) {
    const values = v128.load(at);
    lows = f32x4.pmin(lows, values);
    highs = f32x4.pmax(highs, values);
  }
  const least = -maxOf(f32x4.neg(lows));
  const step = max<f32>(maxOf(highs) - least, 1e-30) / ACTIVATION_MAX;
  const low = f32x4.splat(least);
  const scale = f32x4.splat(1 / step);
  for (; from < end; from += 64) {
    const first = i16x8.narrow_i32x4_s(steps(from, low, scale), steps(from + 16, low, scale));
    const second = i16x8.narrow_i32x4_s(steps(from + 32, low, scale), steps(from + 48, low, scale));
    if (ASC_FEATURE_RELAXED_SIMD) {
      const fours = i8x16.narrow_i16x8_s(first, second);
      v128.store_lane<i32>(to, fours, 0);
      v128.store_lane<i32>(to + stride, fours, 1);
      v128.store_lane<i32>(to + 2 * stride, fours, 2);
      v128.store_lane<i32>(to + 3 * stride, fours, 3);
    } else {
      v128.store_lane<i64>(to, first, 0);
      v128.store_lane<i64>(to + stride, first, 1);
      v128.store_lane<i64>(to + 2 * stride, second, 0);
      v128.store_lane<i64>(to + 3 * stride, second, 1);
    }
    to += 4 * stride;
  }
  store<f32>(range, step);
  store<f32>(range, least, 4);
}

function steps(from: usize, low: v128, scale: v128): v128 {
  return rounded(f32x4.sub(v128.load(from), low), scale);
}

/** out[token][row] = bias[row] + sum over columns of activations[token] * weights[row], as GELU of that if it is asked for. `rows` is a multiple of 4, `tokens` of 2. */
export function linear(
  activations: usize,
  ranges: usize,
  weights: usize,
  weightScales: usize,
  weightSums: usize,
  bias: usize,
  out: usize,
  stride: i32,
  tokens: i32,
  rows: i32,
  columns: i32,
  withGelu: bool,
): void {
  for (let row = 0; row < rows; row += 4) {
    let from = activations;
    let to = out;
    for (let left = tokens; left > 0; left -= 4) {
      if (left > 2) fourTokens(from, weights, columns, to, stride);
      else twoTokens(from, weights, columns, to, stride);
      from += columns * FOUR;
      to += stride << 2;
    }
    finish(out, stride, ranges, tokens, weightScales, weightSums, bias, withGelu);
    weights += <usize>columns << 2;
    weightScales += 16;
    weightSums += 16;
    bias += 16;
    out += 16;
  }
}

/**
 * The hot loop: integer sums of four tokens with four rows of weights. V8 loads all that one turn reads before it multiplies: with
 * more in a turn, that would not fit a processor's 16 registers. Exported it stays a function of its own: with anything else around
 * it, V8 keeps the sums in memory.
 */
export function fourTokens(from: usize, weights: usize, columns: i32, out: usize, stride: i32): void {
  if (!ASC_FEATURE_RELAXED_SIMD) return plainFour(from, weights, columns, out, stride);
  let a = i32x4.splat(0), b = a, c = a, d = a;
  // Not a constant: V8 would make that anew each time.
  const ones = i16x8.splat(<i16>(columns > 0));
  const end = from + (<usize>columns << 2);
  do {
    const row = v128.load(weights);
    const next = v128.load(weights, 16);
    a = i32x4.add(a, dots(row, v128.load32_splat(from), next, v128.load32_splat(from, 16), ones));
    b = i32x4.add(b, dots(row, v128.load32_splat(from, 4), next, v128.load32_splat(from, 20), ones));
    c = i32x4.add(c, dots(row, v128.load32_splat(from, 8), next, v128.load32_splat(from, 24), ones));
    d = i32x4.add(d, dots(row, v128.load32_splat(from, 12), next, v128.load32_splat(from, 28), ones));
    from += 32;
    weights += 32;
  } while (from < end);
  v128.store(out, a);
  v128.store(out + stride, b);
  v128.store(out + 2 * stride, c);
  v128.store(out + 3 * stride, d);
}

/** The same for two. */
export function twoTokens(from: usize, weights: usize, columns: i32, out: usize, stride: i32): void {
  if (!ASC_FEATURE_RELAXED_SIMD) return plainTwo(from, weights, columns, out, stride);
  let a = i32x4.splat(0), b = a;
  const ones = i16x8.splat(<i16>(columns > 0));
  const end = from + (<usize>columns << 1);
  do {
    const row = v128.load(weights);
    const next = v128.load(weights, 16);
    a = i32x4.add(a, dots(row, v128.load32_splat(from), next, v128.load32_splat(from, 8), ones));
    b = i32x4.add(b, dots(row, v128.load32_splat(from, 4), next, v128.load32_splat(from, 12), ones));
    from += 16;
    weights += 32;
  } while (from < end);
  v128.store(out, a);
  v128.store(out + stride, b);
}

/**
 * In each lane of 32 bits the sum of eight products of bytes: four columns of weights and the four behind them. Products that fit 16
 * bits are added there: widening takes a multiplication, and a processor does only two of these at a time.
 */
@inline
function dots(weights: v128, activations: v128, nextWeights: v128, nextActivations: v128, ones: v128): v128 {
  return i32x4.dot_i16x8_s(i16x8.add(pairs(weights, activations), pairs(nextWeights, nextActivations)), ones);
}

/** In each lane of 16 bits the sum of two products: weights with a sign, activations below 128. */
@inline
function pairs(weights: v128, activations: v128): v128 {
  return i16x8.relaxed_dot_i8x16_i7x16_s(weights, activations);
}

// --- The same without relaxed SIMD: products of 16 bits, of which two are added at once, so that a sum has two lanes.

function plainFour(from: usize, weights: usize, columns: i32, out: usize, stride: i32): void {
  let a = i32x4.splat(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  for (const end = weights + (<usize>columns << 2); weights < end; weights += 16, from += 4 * FOUR) {
    const low = v128.load_ext<i8>(weights);
    const high = v128.load_ext<i8>(weights, 8);
    const one = v128.load64_splat(from);
    a = i32x4.add(a, i32x4.dot_i16x8_s(low, one));
    b = i32x4.add(b, i32x4.dot_i16x8_s(high, one));
    const two = v128.load64_splat(from, FOUR);
    c = i32x4.add(c, i32x4.dot_i16x8_s(low, two));
    d = i32x4.add(d, i32x4.dot_i16x8_s(high, two));
    const three = v128.load64_splat(from, 2 * FOUR);
    e = i32x4.add(e, i32x4.dot_i16x8_s(low, three));
    f = i32x4.add(f, i32x4.dot_i16x8_s(high, three));
    const four = v128.load64_splat(from, 3 * FOUR);
    g = i32x4.add(g, i32x4.dot_i16x8_s(low, four));
    h = i32x4.add(h, i32x4.dot_i16x8_s(high, four));
  }
  v128.store(out, joined(a, b));
  v128.store(out + stride, joined(c, d));
  v128.store(out + 2 * stride, joined(e, f));
  v128.store(out + 3 * stride, joined(g, h));
}

function plainTwo(from: usize, weights: usize, columns: i32, out: usize, stride: i32): void {
  let a = i32x4.splat(0), b = a, c = a, d = a;
  for (const end = weights + (<usize>columns << 2); weights < end; weights += 16, from += 2 * FOUR) {
    const low = v128.load_ext<i8>(weights);
    const high = v128.load_ext<i8>(weights, 8);
    const one = v128.load64_splat(from);
    a = i32x4.add(a, i32x4.dot_i16x8_s(low, one));
    b = i32x4.add(b, i32x4.dot_i16x8_s(high, one));
    const two = v128.load64_splat(from, FOUR);
    c = i32x4.add(c, i32x4.dot_i16x8_s(low, two));
    d = i32x4.add(d, i32x4.dot_i16x8_s(high, two));
  }
  v128.store(out, joined(a, b));
  v128.store(out + stride, joined(c, d));
}

/** The sums of neighbouring lanes, of both. */
function joined(low: v128, high: v128): v128 {
  return i32x4.add(v128.shuffle<i32>(low, high, 0, 2, 4, 6), v128.shuffle<i32>(low, high, 1, 3, 5, 7));
}

/** The integer sums of four rows to floats, where they stand. */
function finish(out: usize, stride: i32, ranges: usize, tokens: i32, scales: usize, sums: usize, bias: usize, withGelu: bool): void {
  for (let token = 0; token < tokens; token++, out += stride, ranges += 8) {
    const step = v128.load32_splat(ranges);
    const least = v128.load32_splat(ranges, 4);
    const sum = f32x4.mul(f32x4.convert_i32x4_s(v128.load(out)), f32x4.mul(v128.load(scales), step));
    const value = f32x4.add(sum, f32x4.add(f32x4.mul(v128.load(sums), least), v128.load(bias)));
    v128.store(out, withGelu ? gelu(value) : value);
  }
}

/** From here on GELU is taken for max(x, 0), less 0.0006. */
const GELU_END: f32 = 3.6;

/**
 * max(x, 0) - z * tail(z) with z = |x|, where tail is (1 - erf(z / sqrt 2)) / 2 as a polynomial on 0 to GELU_END: off by at most 1e-4,
 * a hundredth of the steps that the next layer takes. Summed in pairs, because a processor waits for each step of a long chain.
 */
function gelu(value: v128): v128 {
  const z = f32x4.pmin(f32x4.abs(value), f32x4.splat(GELU_END));
  const z2 = f32x4.mul(z, z);
  const low = plus(line(z, 0.49744112, -0.37644329), z2, line(z, -0.06656842, 0.15848837));
  const high = plus(line(z, -0.0649609, 0.0113848), z2, f32x4.splat(-0.00075652));
  return f32x4.sub(f32x4.pmax(value, f32x4.splat(0)), f32x4.mul(z, plus(low, f32x4.mul(z2, z2), high)));
}

function line(z: v128, at0: f32, slope: f32): v128 {
  return plus(f32x4.splat(at0), z, f32x4.splat(slope));
}

function plus(a: v128, b: v128, c: v128): v128 {
  return f32x4.add(a, f32x4.mul(b, c));
}

/** Attention of one head, 32 wide. Queries and values have a row per token, keys one per dimension; `scores` holds 4 rows. */
export function attend(
  queries: usize,
  keys: usize,
  values: usize,
  scores: usize,
  out: usize,
  rowStride: i32,
  outStride: i32,
  tokens: i32,
  padded: i32,
): void {
  const stride = padded << 2;
  for (let token = 0; token < padded; token += 4) {
    for (let at = 0; at < stride; at += 16) multiply(queries, rowStride, keys + at, stride, 32, scores + at, stride);
    for (let row = 0; row < 4; row++) softmax(scores + row * stride, tokens, padded);
    for (let at = 0; at < 128; at += 16) multiply(scores, stride, values + at, rowStride, padded, out + at, outStride);
    queries += <usize>rowStride << 2;
    out += <usize>outStride << 2;
  }
}

/** A matrix of 4-byte cells, turned: out[column][row] = from[row][column]. */
export function turn(from: usize, fromStride: i32, to: usize, rows: i32, columns: i32): void {
  for (let row = 0; row < rows; row++, from += fromStride, to += 4) {
    let at = to;
    for (let column = 0; column < columns; column++, at += <usize>rows << 2) {
      store<u32>(at, load<u32>(from + (<usize>column << 2)));
    }
  }
}

/** A block of 4 by 4 of a float product: out[i][j] = sum over k of a[i][k] * b[k][j]. */
function multiply(a: usize, aStride: i32, b: usize, bStride: i32, depth: i32, out: usize, outStride: i32): void {
  let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
  let a1 = a + aStride, a2 = a1 + aStride, a3 = a2 + aStride;
  for (const end = a + (<usize>depth << 2); a < end; a += 4, a1 += 4, a2 += 4, a3 += 4, b += bStride) {
    const row = v128.load(b);
    s0 = f32x4.add(s0, f32x4.mul(row, v128.load32_splat(a)));
    s1 = f32x4.add(s1, f32x4.mul(row, v128.load32_splat(a1)));
    s2 = f32x4.add(s2, f32x4.mul(row, v128.load32_splat(a2)));
    s3 = f32x4.add(s3, f32x4.mul(row, v128.load32_splat(a3)));
  }
  v128.store(out, s0);
  v128.store(out + outStride, s1);
  v128.store(out + 2 * outStride, s2);
  v128.store(out + 3 * outStride, s3);
}

/** One row of scores to shares; what is beyond `tokens` is padding and gets none. */
function softmax(row: usize, tokens: i32, padded: i32): void {
  for (let i = tokens; i < padded; i++) store<f32>(row + (<usize>i << 2), -1e30);
  const end = row + (<usize>padded << 2);
  let peaks = v128.load(row);
  for (let at = row + 16; at < end; at += 16) peaks = f32x4.pmax(peaks, v128.load(at));
  const peak = f32x4.splat(maxOf(peaks));
  const scale = f32x4.splat(0.17677669529663687); // 1 / sqrt(32)
  let sums = f32x4.splat(0);
  for (let at = row; at < end; at += 16) {
    const share = exp(f32x4.mul(f32x4.sub(v128.load(at), peak), scale));
    sums = f32x4.add(sums, share);
    v128.store(at, share);
  }
  const factor = f32x4.splat(1 / sumOf(sums));
  for (let at = row; at < end; at += 16) v128.store(at, f32x4.mul(v128.load(at), factor));
  for (let i = tokens; i < padded; i++) store<f32>(row + (<usize>i << 2), 0);
}

/** x = LayerNorm(x + y), row by row. */
export function addNorm(x: usize, y: usize, weight: usize, bias: usize, rows: i32, columns: i32): void {
  const width = <usize>columns << 2;
  for (let row = 0; row < rows; row++, x += width, y += width) {
    let sums = f32x4.splat(0);
    for (let at: usize = 0; at < width; at += 16) {
      const value = f32x4.add(v128.load(x + at), v128.load(y + at));
      v128.store(x + at, value);
      sums = f32x4.add(sums, value);
    }
    const mean = f32x4.splat(sumOf(sums) / <f32>columns);
    let squares = f32x4.splat(0);
    for (let at: usize = 0; at < width; at += 16) {
      const value = f32x4.sub(v128.load(x + at), mean);
      squares = f32x4.add(squares, f32x4.mul(value, value));
    }
    const factor = f32x4.splat(1 / sqrt<f32>(sumOf(squares) / <f32>columns + 1e-12));
    for (let at: usize = 0; at < width; at += 16) {
      const value = f32x4.mul(f32x4.sub(v128.load(x + at), mean), factor);
      v128.store(x + at, f32x4.add(f32x4.mul(value, v128.load(weight + at)), v128.load(bias + at)));
    }
  }
}

/** Adds one row to all rows. */
export function addRow(x: usize, row: usize, rows: i32, columns: i32): void {
  const width = <usize>columns << 2;
  for (let i = 0; i < rows; i++, x += width) {
    for (let at: usize = 0; at < width; at += 16) v128.store(x + at, f32x4.add(v128.load(x + at), v128.load(row + at)));
  }
}

/** The mean of rows. */
export function average(x: usize, out: usize, rows: i32, columns: i32): void {
  const width = <usize>columns << 2;
  const factor = f32x4.splat(1 / <f32>rows);
  for (let at: usize = 0; at < width; at += 16) {
    let sum = f32x4.splat(0);
    let from = x + at;
    for (let row = 0; row < rows; row++, from += width) sum = f32x4.add(sum, v128.load(from));
    v128.store(out + at, f32x4.mul(sum, factor));
  }
}
