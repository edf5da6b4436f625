import { type Raster } from '../vision/raster';

const linear = Float32Array.from({ length: 256 }, (_, level) => {
  const value = level / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
});

function curve(t: number): number {
  return t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116;
}

/** Converts to CIE L*a*b* (D65), three values a pixel. Its distances are roughly those that people perceive. */
export function toLab({ rgb, width, height }: Raster): Float32Array {
  const lab = new Float32Array(width * height * 3);
  for (let at = 0; at < lab.length; at += 3) {
    const red = linear[rgb[at] ?? 0] ?? 0;
    const green = linear[rgb[at + 1] ?? 0] ?? 0;
    const blue = linear[rgb[at + 2] ?? 0] ?? 0;
    const x = curve((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505);
    const y = curve(0.2126 * red + 0.7152 * green + 0.0722 * blue);
    const z = curve((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089);
    lab[at] = 116 * y - 16;
    lab[at + 1] = 500 * (x - y);
    lab[at + 2] = 200 * (y - z);
  }
  return lab;
}
