// jest looks globals up slowly, and these run for every pixel.
const { abs, atan2, cos, floor, hypot, imul, max, min } = Math;

/** A number in [0, 1) that depends on the three integers alone. */
export function hash(x: number, y: number, seed: number): number {
  let value = imul(x, 0x27d4eb2d) ^ imul(y, 0x165667b1) ^ imul(seed, 0x9e3779b1);
  value = imul(value ^ (value >>> 15), 0x85ebca6b);
  value = imul(value ^ (value >>> 13), 0xc2b2ae35);
  return ((value ^ (value >>> 16)) >>> 0) / 4_294_967_296;
}

/** Smooth noise in [0, 1): one independent value every `cell` pixels. */
function smoothNoise(x: number, y: number, options: { cell: number; seed: number }): number {
  const { cell, seed } = options;
  const [u, v] = [x / cell, y / cell];
  const [i, j] = [floor(u), floor(v)];
  const ease = (t: number): number => t * t * (3 - 2 * t);
  const [s, t] = [ease(u - i), ease(v - j)];
  const top = hash(i, j, seed) * (1 - s) + hash(i + 1, j, seed) * s;
  const bottom = hash(i, j + 1, seed) * (1 - s) + hash(i + 1, j + 1, seed) * s;
  return top * (1 - t) + bottom * t;
}

/** Signed distance in pixels: negative inside. */
type Shape = (x: number, y: number) => number;

function circle(cx: number, cy: number, radius: number): Shape {
  return (x, y) => hypot(x - cx, y - cy) - radius;
}

function box(cx: number, cy: number, size: { halfWidth: number; halfHeight: number; corner?: number }): Shape {
  const { halfWidth, halfHeight, corner = 0 } = size;
  return (x, y) => {
    const dx = abs(x - cx) - halfWidth + corner;
    const dy = abs(y - cy) - halfHeight + corner;
    return hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - corner;
  };
}

/** A line with round ends. */
function stroke(from: readonly [number, number], to: readonly [number, number], thickness: number): Shape {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = dx * dx + dy * dy;
  return (x, y) => {
    const along = min(max(((x - from[0]) * dx + (y - from[1]) * dy) / length, 0), 1);
    return hypot(x - from[0] - along * dx, y - from[1] - along * dy) - thickness / 2;
  };
}

function union(...shapes: readonly Shape[]): Shape {
  return (x, y) => min(...shapes.map((shape) => shape(x, y)));
}

function without(shape: Shape, hole: Shape): Shape {
  return (x, y) => max(shape(x, y), -hole(x, y));
}

/** A star or flower: the radius swings around `radius` by `swing`, `points` times. */
function star(cx: number, cy: number, form: { radius: number; swing: number; points: number }): Shape {
  const { radius, swing, points } = form;
  return (x, y) => {
    const angle = atan2(y - cy, x - cx);
    return (hypot(x - cx, y - cy) - radius - swing * cos(points * angle)) * 0.8;
  };
}

type Colour = readonly [number, number, number];
/** The colour of a pixel, 0–255 a channel. */
export type Paint = (x: number, y: number) => Colour;

/** A foreground over a background, with the alpha known because the scene is drawn from it. */
export interface Scene {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly shape: Shape;
  /** Pixels over which the edge goes from clear to opaque; 1 unless given. */
  readonly softness?: number;
  readonly foreground: Paint;
  readonly background: Paint;
  /** Grey levels of camera noise to either side; 3 unless given. */
  readonly grain?: number;
}

const plain =
  (...colour: Colour): Paint =>
  () =>
    colour;

function mix(a: Colour, b: Colour, share: number): Colour {
  return [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share];
}

const vertical =
  (top: Colour, bottom: Colour, height: number): Paint =>
  (_x, y) =>
    mix(top, bottom, y / height);

const clouds =
  (a: Colour, b: Colour, options: { cell: number; seed: number }): Paint =>
  (x, y) =>
    mix(a, b, smoothNoise(x, y, options) * 0.6 + smoothNoise(x, y, { cell: options.cell / 4, seed: options.seed + 1 }) * 0.4);

const bricks: Paint = (x, y) => {
  const row = floor(y / 24);
  const column = floor((x + (row % 2) * 30) / 60);
  const isJoint = y % 24 < 3 || (x + (row % 2) * 30) % 60 < 3;
  return isJoint ? [178, 172, 162] : mix([150, 70, 52], [120, 52, 40], hash(column, row, 5));
};

const foliage = clouds([24, 52, 20], [122, 160, 70], { cell: 22, seed: 11 });

function walker(cx: number, top: number): Shape {
  return union(
    circle(cx, top + 32, 30),
    box(cx, top + 125, { halfWidth: 38, halfHeight: 68, corner: 24 }),
    stroke([cx - 34, top + 78], [cx - 82, top + 160], 22),
    stroke([cx + 34, top + 78], [cx + 76, top + 165], 22),
    stroke([cx - 16, top + 180], [cx - 42, top + 300], 28),
    stroke([cx + 16, top + 180], [cx + 46, top + 300], 28),
  );
}

const threeObjects = union(
  circle(130, 170, 62),
  box(320, 230, { halfWidth: 52, halfHeight: 70, corner: 12 }),
  star(500, 160, { radius: 58, swing: 14, points: 5 }),
);

export const SCENES: readonly Scene[] = [
  {
    name: 'walker, sky and grass',
    width: 640,
    height: 480,
    shape: walker(330, 90),
    foreground: (_x, y) => (y < 152 ? [206, 158, 130] : y < 280 ? [190, 40, 44] : [36, 40, 78]),
    background: (x, y) => (y < 270 ? mix([120, 170, 225], [190, 215, 240], y / 270) : foliage(x, y)),
  },
  {
    name: 'ring with a hole, clouds',
    width: 500,
    height: 500,
    shape: without(circle(250, 255, 160), circle(250, 255, 92)),
    foreground: vertical([236, 190, 60], [196, 120, 24], 500),
    background: clouds([70, 96, 132], [128, 150, 176], { cell: 80, seed: 4 }),
  },
  {
    name: 'bottle on bricks',
    width: 480,
    height: 520,
    shape: union(
      box(240, 330, { halfWidth: 66, halfHeight: 130, corner: 30 }),
      box(240, 160, { halfWidth: 24, halfHeight: 80, corner: 6 }),
    ),
    foreground: (x, y) => (y > 270 && y < 390 ? [238, 232, 214] : mix([22, 92, 58], [60, 150, 96], abs(x - 225) / 80)),
    background: bricks,
  },
  {
    name: 'three objects',
    width: 640,
    height: 400,
    shape: threeObjects,
    foreground: (x) => (x < 225 ? [210, 54, 50] : x < 400 ? [50, 92, 190] : [238, 200, 44]),
    background: clouds([188, 186, 180], [224, 222, 216], { cell: 60, seed: 8 }),
  },
  {
    name: 'white product on white',
    width: 520,
    height: 520,
    shape: box(260, 265, { halfWidth: 130, halfHeight: 160, corner: 34 }),
    foreground: (x) => mix([226, 226, 230], [196, 198, 204], x / 520),
    background: plain(250, 250, 249),
    grain: 2,
  },
  {
    name: 'soft edge over 14 px',
    width: 460,
    height: 460,
    shape: star(230, 230, { radius: 130, swing: 18, points: 5 }),
    softness: 14,
    foreground: plain(238, 234, 226),
    background: vertical([30, 44, 74], [64, 40, 66], 460),
  },
];
