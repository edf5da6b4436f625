// jest looks globals up slowly, and these run for every pixel.
const { floor, imul } = Math;

/** A number in [0, 1) that depends on the three integers alone. */
export function hash(x: number, y: number, seed: number): number {
  let value = imul(x, 0x27d4eb2d) ^ imul(y, 0x165667b1) ^ imul(seed, 0x9e3779b1);
  value = imul(value ^ (value >>> 15), 0x85ebca6b);
  value = imul(value ^ (value >>> 13), 0xc2b2ae35);
  return ((value ^ (value >>> 16)) >>> 0) / 4_294_967_296;
}

/** Smooth noise in [0, 1): one independent value every `cell` pixels. */
export function smoothNoise(x: number, y: number, options: { cell: number; seed: number }): number {
  const { cell, seed } = options;
  const [u, v] = [x / cell, y / cell];
  const [i, j] = [floor(u), floor(v)];
  const ease = (t: number): number => t * t * (3 - 2 * t);
  const [s, t] = [ease(u - i), ease(v - j)];
  const top = hash(i, j, seed) * (1 - s) + hash(i + 1, j, seed) * s;
  const bottom = hash(i, j + 1, seed) * (1 - s) + hash(i + 1, j + 1, seed) * s;
  return top * (1 - t) + bottom * t;
}
