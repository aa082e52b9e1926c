/** Arithmetic on the lanes of one vector, for kernel.as. */

/** Adding 1.5 * 2^23 rounds a float to an integer that then stands in its low bits. */
const ROUNDER: f32 = 12582912;
const ROUNDER_BITS: i32 = 0x4b400000;
/** A float16's bits moved to where float32 has them mean a number 2^112 too small. */
export const HALF_SHIFT: f32 = 5.192296858534828e33;
const HALF_BITS: i32 = 0x8fffffff;

/** e^x for x <= 0, relative error below 2e-7; never below e^-87. */
export function exp(x: v128): v128 {
  const low = f32x4.pmax(x, f32x4.splat(-87));
  const shifted = f32x4.add(f32x4.mul(low, f32x4.splat(1.4426950408889634)), f32x4.splat(ROUNDER));
  const n = f32x4.sub(shifted, f32x4.splat(ROUNDER));
  const r = f32x4.sub(f32x4.sub(low, f32x4.mul(n, f32x4.splat(0.693359375))), f32x4.mul(n, f32x4.splat(-2.12194440e-4)));
  let p = f32x4.splat(1.9875691500e-4);
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.3981999507e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(8.3334519073e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(4.1665795894e-2));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.6666665459e-1));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(5.0000001201e-1));
  p = f32x4.add(f32x4.add(f32x4.mul(f32x4.mul(p, r), r), r), f32x4.splat(1));
  return i32x4.add(p, i32x4.shl(i32x4.sub(shifted, i32x4.splat(ROUNDER_BITS)), 23));
}

/** Float16 in the low halves of lanes, sign extended, to float32 that is 2^112 too small. */
export function halfBits(half: v128): v128 {
  return v128.and(i32x4.shl(half, 13), i32x4.splat(HALF_BITS));
}

/** The reverse, from float32: float16 in the low halves of lanes. Numbers beyond float16 come out wrong; weights are not. */
export function toHalf(x: v128): v128 {
  const small = f32x4.mul(x, f32x4.splat(1 / HALF_SHIFT));
  const size = v128.and(small, i32x4.splat(0x7fffffff));
  const sign = v128.and(i32x4.shr_u(small, 16), i32x4.splat(0x8000));
  return v128.or(sign, i32x4.shr_u(i32x4.add(size, i32x4.splat(0x1000)), 13));
}

/** x * scale, rounded to integers; its size must be below 2^22. */
export function rounded(x: v128, scale: v128): v128 {
  return i32x4.sub(f32x4.add(f32x4.mul(x, scale), f32x4.splat(ROUNDER)), i32x4.splat(ROUNDER_BITS));
}

/** The largest of eight unsigned 16-bit lanes. */
export function largest(x: v128): i32 {
  let y = i16x8.max_u(x, v128.shuffle<i32>(x, x, 2, 3, 0, 1));
  y = i16x8.max_u(y, v128.shuffle<i32>(y, y, 1, 0, 3, 2));
  return max<i32>(i16x8.extract_lane_u(y, 0), i16x8.extract_lane_u(y, 1));
}

export function maxOf(x: v128): f32 {
  const pairs = f32x4.pmax(x, v128.shuffle<i32>(x, x, 2, 3, 0, 1));
  return max<f32>(f32x4.extract_lane(pairs, 0), f32x4.extract_lane(pairs, 1));
}

export function sumOf(x: v128): f32 {
  const pairs = f32x4.add(x, v128.shuffle<i32>(x, x, 2, 3, 0, 1));
  return f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
}
