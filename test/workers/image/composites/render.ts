import { hash } from './scenes';
import { type Scene } from './scenes';

// jest looks globals up slowly, and these run for every pixel.
const { abs, max, min, round } = Math;

export interface Composite {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Three bytes a pixel. */
  readonly rgb: Buffer;
  /** 0–1 a pixel. */
  readonly alpha: Float32Array;
}

/** @param scale enlarges the scene, for example 2 for twice the width and height */
export function render(scene: Scene, scale = 1): Composite {
  const [width, height] = [round(scene.width * scale), round(scene.height * scale)];
  const rgb = Buffer.alloc(width * height * 3);
  const alpha = new Float32Array(width * height);
  const { softness = 1, grain = 3 } = scene;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [u, v] = [(x + 0.5) / scale, (y + 0.5) / scale];
      const at = y * width + x;
      const opacity = min(max(0.5 - (scene.shape(u, v) * scale) / (softness * scale), 0), 1);
      alpha[at] = opacity;
      const [front, back] = [scene.foreground(u, v), scene.background(u, v)];
      for (let channel = 0; channel < 3; channel++) {
        const noise = (hash(x, y, 101 + channel) + hash(x, y, 201 + channel) - 1) * grain;
        const value = (front[channel] ?? 0) * opacity + (back[channel] ?? 0) * (1 - opacity) + noise;
        rgb[at * 3 + channel] = min(max(round(value), 0), 255);
      }
    }
  }
  return { name: scene.name, width, height, rgb, alpha };
}

interface Agreement {
  /** Intersection over union of what is at least half opaque. */
  readonly iou: number;
  /** Mean absolute error of alpha, 0–1. */
  readonly mae: number;
}

/** @param rgba four bytes a pixel */
export function compare(rgba: Uint8Array, { alpha }: Pick<Composite, 'alpha'>): Agreement {
  let [both, either, error] = [0, 0, 0];
  for (let at = 0; at < alpha.length; at++) {
    const [found, truth] = [(rgba[at * 4 + 3] ?? 0) / 255, alpha[at] ?? 0];
    const [isFound, isTrue] = [found >= 0.5, truth >= 0.5];
    if (isFound && isTrue) both++;
    if (isFound || isTrue) either++;
    error += abs(found - truth);
  }
  return { iou: either === 0 ? 1 : both / either, mae: error / alpha.length };
}
