// jest looks globals up slowly, and these run for every pixel.
const { abs, atan2, cos, hypot, max, min } = Math;

/** Signed distance in pixels: negative inside. */
export type Shape = (x: number, y: number) => number;

export function circle(cx: number, cy: number, radius: number): Shape {
  return (x, y) => hypot(x - cx, y - cy) - radius;
}

export function box(cx: number, cy: number, size: { halfWidth: number; halfHeight: number; corner?: number }): Shape {
  const { halfWidth, halfHeight, corner = 0 } = size;
  return (x, y) => {
    const dx = abs(x - cx) - halfWidth + corner;
    const dy = abs(y - cy) - halfHeight + corner;
    return hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - corner;
  };
}

/** A line with round ends. */
export function stroke(from: readonly [number, number], to: readonly [number, number], thickness: number): Shape {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = dx * dx + dy * dy;
  return (x, y) => {
    const along = min(max(((x - from[0]) * dx + (y - from[1]) * dy) / length, 0), 1);
    return hypot(x - from[0] - along * dx, y - from[1] - along * dy) - thickness / 2;
  };
}

export function union(...shapes: readonly Shape[]): Shape {
  return (x, y) => min(...shapes.map((shape) => shape(x, y)));
}

export function without(shape: Shape, hole: Shape): Shape {
  return (x, y) => max(shape(x, y), -hole(x, y));
}

/** A star or flower: the radius swings around `radius` by `swing`, `points` times. */
export function star(cx: number, cy: number, form: { radius: number; swing: number; points: number }): Shape {
  const { radius, swing, points } = form;
  return (x, y) => {
    const angle = atan2(y - cy, x - cx);
    return (hypot(x - cx, y - cy) - radius - swing * cos(points * angle)) * 0.8;
  };
}
