import { randomInt } from 'node:crypto';
import sharp from 'sharp';
import { type Point, strokesOf } from './glyphs';

export interface CaptchaImage {
  readonly bytes: Buffer;
  readonly mediaType: 'image/png' | 'image/jpeg';
}

/** Pixels. */
const HEIGHT = 72;
const ADVANCE = 40;
const MARGIN = 16;
const CELL = 7.5;
const GRID_CENTRE: Point = [2, 3];
/** Maximum lean of a character in radians. More turns an N into a Z. */
const LEAN = 0.26;
/** Maximum displacement of a point in pixels. */
const STRAY = 1.6;
const RANDOM_STEPS = 1_000_000;

/** A random number, evenly distributed between two bounds. */
function between(low: number, high: number): number {
  return low + ((high - low) * randomInt(RANDOM_STEPS)) / RANDOM_STEPS;
}

function lineThrough(points: readonly Point[]): string {
  return points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
}

/** One wave under the whole text, so that no two captchas have the same baseline. */
function createWave(): (x: number) => number {
  const [height, length, phase] = [between(3, 7), between(70, 130), between(0, 2 * Math.PI)];
  return (x) => height * Math.sin((2 * Math.PI * x) / length + phase);
}

function drawCharacter(character: string, centreX: number, wave: (x: number) => number): string {
  const [lean, width, height, rise] = [between(-LEAN, LEAN), between(0.8, 1.05), between(0.85, 1.1), between(-4, 4)];
  const place = ([gridX, gridY]: Point): Point => {
    const [x, y] = [(gridX - GRID_CENTRE[0]) * CELL * width, (gridY - GRID_CENTRE[1]) * CELL * height];
    const placedX = centreX + x * Math.cos(lean) - y * Math.sin(lean) + between(-STRAY, STRAY);
    const placedY = HEIGHT / 2 + rise + x * Math.sin(lean) + y * Math.cos(lean) + between(-STRAY, STRAY);
    return [placedX, placedY + wave(placedX)];
  };
  return strokesOf(character)
    .map((stroke) => lineThrough(stroke.map(place)))
    .join('');
}

/** Draws a curve from edge to edge, in the colour of the letters. */
function drawScratch(width: number): string {
  const y = (): string => between(10, HEIGHT - 10).toFixed(1);
  return `M0 ${y()}C${(width / 3).toFixed(1)} ${y()} ${((2 * width) / 3).toFixed(1)} ${y()} ${width} ${y()}`;
}

/**
 * Draws a text as a picture that people read more easily than programs do.
 * @param text characters of the alphabet in `glyphs.ts`
 */
export async function drawCaptcha(text: string): Promise<CaptchaImage> {
  const width = 2 * MARGIN + text.length * ADVANCE;
  const wave = createWave();
  const centreOf = (index: number): number => MARGIN + (index + 0.5) * ADVANCE + between(-3, 3);
  const letters = [...text].map((character, index) => drawCharacter(character, centreOf(index), wave)).join('');
  const scratches = Array.from({ length: 3 }, () => drawScratch(width)).join('');
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}"><rect width="100%" height="100%" fill="#fff"/>` +
    `<g fill="none" stroke="#333" stroke-linecap="round" stroke-linejoin="round">` +
    `<path stroke-width="4.2" d="${letters}"/><path stroke-width="1.6" d="${scratches}"/></g></svg>`;
  return { bytes: await sharp(Buffer.from(svg)).toColourspace('b-w').png().toBuffer(), mediaType: 'image/png' };
}
