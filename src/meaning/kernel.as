/**
 * The arithmetic of the sentence model in AssemblyScript: linear layers on integers, the rest on floats.
 *
 * scripts/build-kernel.mjs compiles this file into kernel-bytes.ts. It allocates nothing: the caller lays out the memory.
 * Addresses are bytes and multiples of 16. Rows of tokens come by fives and fours, as many fives as a division by four leaves
 * (which 1 to 3, 6, 7 and 11 tokens do not allow), in attention by fours, so that no loop needs a remainder. V8 swaps its first, simple code of a function for better code only when the function is called again: callers
 * should call often, with little to do each time.
 */
import { exp, HALF_SHIFT, halfBits, largest, maxOf, rounded, sumOf, toHalf } from "./lanes";

/** Activations have 13 bits and a sign: a sum of 1,536 products with weights of 7 bits then just fits 31. */
const ACTIVATION_MAX: f32 = 8191;
const WEIGHT_MAX: f32 = 127;
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
 * bytes are half the wait. Eight rows stand side by side, two columns of each in turn, so that `linear` reads one stream. `rows` and
 * `columns` are multiples of 8. True when all are finite.
 */
export function packWeights(from: usize, to: usize, scales: usize, rows: i32, columns: i32): bool {
  let finite = true;
  for (let row = 0; row < rows; row++) {
    const factor = factorOf(from, columns);
    if (factor < 0) finite = false;
    packRow(from, to + (<usize>(row & 7) << 1), columns, factor * HALF_SHIFT);
    store<f32>(scales, 1 / factor);
    from += <usize>columns << 1;
    if ((row & 7) == 7) to += <usize>columns << 3;
    scales += 4;
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

/** What a row of weights is multiplied by; -1 when one of them is not finite. */
function factorOf(from: usize, columns: i32): f32 {
  let worst = i16x8.splat(0);
  for (const end = from + (<usize>columns << 1); from < end; from += 16)
    worst = i16x8.max_u(worst, v128.and(v128.load(from), i16x8.splat(0x7fff)));
  const peak = largest(worst);
  if (peak >= 0x7c00) return -1;
  return min<f32>(FACTOR_MAX, WEIGHT_MAX / (reinterpret<f32>(peak << 13) * HALF_SHIFT));
}

function packRow(from: usize, to: usize, count: i32, factor: f32): void {
  const scale = f32x4.splat(factor);
  for (const end = to + (<usize>count << 3); to < end; from += 16, to += 64) {
    const half = v128.load(from);
    const low = rounded(halfBits(i32x4.extend_low_i16x8_s(half)), scale);
    const high = rounded(halfBits(i32x4.extend_high_i16x8_s(half)), scale);
    const both = i16x8.narrow_i32x4_s(low, high);
    const pairs = i8x16.narrow_i16x8_s(both, both);
    v128.store_lane<i16>(to, pairs, 0);
    v128.store_lane<i16>(to, pairs, 1, 16);
    v128.store_lane<i16>(to, pairs, 2, 32);
    v128.store_lane<i16>(to, pairs, 3, 48);
  }
}

/** Float32 rows to int16, every row scaled to its own largest value. The tokens of a block stand side by side, two columns of each in turn. */
export function packActivations(from: usize, to: usize, scales: usize, tokens: i32, columns: i32): void {
  for (let left = tokens, fives = tokens & 3; left > 0; fives--) {
    const beside = fives > 0 ? 5 : 4;
    for (let i = 0; i < beside; i++) {
      packToken(from, to + (<usize>i << 2), scales, columns, beside);
      from += <usize>columns << 2;
      scales += 4;
    }
    to += <usize>(columns * beside) << 1;
    left -= beside;
  }
}

function packToken(from: usize, to: usize, scales: usize, columns: i32, beside: i32): void {
  const end = from + (<usize>columns << 2);
  let peaks = f32x4.splat(0);
  for (let at = from; at < end; at += 32) {
    peaks = f32x4.max(peaks, f32x4.max(f32x4.abs(v128.load(at)), f32x4.abs(v128.load(at, 16))));
  }
  const most = max<f32>(maxOf(peaks), 1e-30);
  const scale = f32x4.splat(ACTIVATION_MAX / most);
  const step = <usize>beside << 2;
  for (; from < end; from += 32) {
    const pairs = i16x8.narrow_i32x4_s(rounded(v128.load(from), scale), rounded(v128.load(from, 16), scale));
    v128.store_lane<i32>(to, pairs, 0);
    to += step;
    v128.store_lane<i32>(to, pairs, 1);
    to += step;
    v128.store_lane<i32>(to, pairs, 2);
    to += step;
    v128.store_lane<i32>(to, pairs, 3);
    to += step;
  }
  store<f32>(scales, most / ACTIVATION_MAX);
}

/** As `linear` was told. */
let outStride: i32 = 0;
let isGelu = false;

/** out[token][row] = bias[row] + sum over columns of activations[token] * weights[row], as GELU of that if it is asked for. `rows` is a multiple of 8. */
export function linear(
  activations: usize,
  activationScales: usize,
  weights: usize,
  weightScales: usize,
  bias: usize,
  out: usize,
  stride: i32,
  tokens: i32,
  rows: i32,
  columns: i32,
  withGelu: bool,
): void {
  outStride = stride;
  isGelu = withGelu;
  for (let row = 0; row < rows; row += 8) {
    let from = activations;
    let scales = activationScales;
    let to = out;
    for (let left = tokens, fives = tokens & 3; left > 0; fives--) {
      const beside = fives > 0 ? 5 : 4;
      if (fives > 0) fiveTokens(from, weights, columns, scales, weightScales, bias, to);
      else fourTokens(from, weights, columns, scales, weightScales, bias, to);
      from += <usize>(columns * beside) << 1;
      scales += beside << 2;
      to += stride * beside;
      left -= beside;
    }
    weights += <usize>columns << 3;
    weightScales += 32;
    bias += 32;
    out += 32;
  }
}

/**
 * The hot loop: five tokens with eight rows of weights. More in a turn would not fit into a processor's 16 registers, and neither
 * would two turns in one: the compiler loads everything first.
 */
function fiveTokens(from: usize, weights: usize, columns: i32, scales: usize, weightScales: usize, bias: usize, out: usize): void {
  let a0 = i32x4.splat(0), a1 = a0, b0 = a0, b1 = a0;
  let c0 = a0, c1 = a0, d0 = a0, d1 = a0, e0 = a0, e1 = a0;
  const end = from + <usize>columns * 10;
  do {
    const both = v128.load(weights);
    const low = i16x8.extend_low_i8x16_s(both);
    const high = i16x8.extend_high_i8x16_s(both);
    const a = v128.load32_splat(from);
    a0 = i32x4.add(a0, i32x4.dot_i16x8_s(low, a));
    a1 = i32x4.add(a1, i32x4.dot_i16x8_s(high, a));
    const b = v128.load32_splat(from, 4);
    b0 = i32x4.add(b0, i32x4.dot_i16x8_s(low, b));
    b1 = i32x4.add(b1, i32x4.dot_i16x8_s(high, b));
    const c = v128.load32_splat(from, 8);
    c0 = i32x4.add(c0, i32x4.dot_i16x8_s(low, c));
    c1 = i32x4.add(c1, i32x4.dot_i16x8_s(high, c));
    const d = v128.load32_splat(from, 12);
    d0 = i32x4.add(d0, i32x4.dot_i16x8_s(low, d));
    d1 = i32x4.add(d1, i32x4.dot_i16x8_s(high, d));
    const e = v128.load32_splat(from, 16);
    e0 = i32x4.add(e0, i32x4.dot_i16x8_s(low, e));
    e1 = i32x4.add(e1, i32x4.dot_i16x8_s(high, e));
    from += 20;
    weights += 16;
  } while (from < end);
  finish(out, scales, weightScales, bias, a0, a1);
  finish(out + outStride, scales + 4, weightScales, bias, b0, b1);
  finish(out + 2 * outStride, scales + 8, weightScales, bias, c0, c1);
  finish(out + 3 * outStride, scales + 12, weightScales, bias, d0, d1);
  finish(out + 4 * outStride, scales + 16, weightScales, bias, e0, e1);
}

/** The same for four. */
function fourTokens(from: usize, weights: usize, columns: i32, scales: usize, weightScales: usize, bias: usize, out: usize): void {
  let a0 = i32x4.splat(0), a1 = a0, b0 = a0, b1 = a0;
  let c0 = a0, c1 = a0, d0 = a0, d1 = a0;
  const end = from + (<usize>columns << 3);
  do {
    const both = v128.load(weights);
    const low = i16x8.extend_low_i8x16_s(both);
    const high = i16x8.extend_high_i8x16_s(both);
    const a = v128.load32_splat(from);
    a0 = i32x4.add(a0, i32x4.dot_i16x8_s(low, a));
    a1 = i32x4.add(a1, i32x4.dot_i16x8_s(high, a));
    const b = v128.load32_splat(from, 4);
    b0 = i32x4.add(b0, i32x4.dot_i16x8_s(low, b));
    b1 = i32x4.add(b1, i32x4.dot_i16x8_s(high, b));
    const c = v128.load32_splat(from, 8);
    c0 = i32x4.add(c0, i32x4.dot_i16x8_s(low, c));
    c1 = i32x4.add(c1, i32x4.dot_i16x8_s(high, c));
    const d = v128.load32_splat(from, 12);
    d0 = i32x4.add(d0, i32x4.dot_i16x8_s(low, d));
    d1 = i32x4.add(d1, i32x4.dot_i16x8_s(high, d));
    from += 16;
    weights += 16;
  } while (from < end);
  finish(out, scales, weightScales, bias, a0, a1);
  finish(out + outStride, scales + 4, weightScales, bias, b0, b1);
  finish(out + 2 * outStride, scales + 8, weightScales, bias, c0, c1);
  finish(out + 3 * outStride, scales + 12, weightScales, bias, d0, d1);
}

/** Integer sums of eight rows to floats. */
function finish(out: usize, scale: usize, weightScales: usize, bias: usize, low: v128, high: v128): void {
  const factor = v128.load32_splat(scale);
  const first = f32x4.mul(f32x4.convert_i32x4_s(low), f32x4.mul(v128.load(weightScales), factor));
  const second = f32x4.mul(f32x4.convert_i32x4_s(high), f32x4.mul(v128.load(weightScales, 16), factor));
  const one = f32x4.add(first, v128.load(bias));
  const two = f32x4.add(second, v128.load(bias, 16));
  v128.store(out, isGelu ? gelu(one) : one);
  v128.store(out, isGelu ? gelu(two) : two, 16);
}

/** From here on GELU differs from max(x, 0) by less than 3e-5. */
const GELU_END: f32 = 4.4;

/** max(x, 0) - z * tail(z) with z = |x|, where tail is (1 - erf(z / sqrt 2)) / 2 as a polynomial on 0 to GELU_END: off by at most 1e-4. */
function gelu(value: v128): v128 {
  const z = f32x4.min(f32x4.abs(value), f32x4.splat(GELU_END));
  let p = f32x4.splat(-1.4541768e-05);
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(0.000339340011));
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(-0.00327279232));
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(0.0163643733));
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(-0.0418773293));
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(0.036195185));
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(0.0431012958));
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(0.00773414643));
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(-0.3999497));
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(0.500022054));
  return f32x4.sub(f32x4.max(value, f32x4.splat(0)), f32x4.mul(z, p));
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
  for (let at = row + 16; at < end; at += 16) peaks = f32x4.max(peaks, v128.load(at));
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
