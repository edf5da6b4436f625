import { drawPng } from '../png';

/**
 * Texts of a session's captchas, in order. Each refresh and each rejection leads to the next one, and the last to the first. They are the
 * same in every session, so that a script can solve them. Case does not matter.
 */
export const CAPTCHA_TEXTS = ['KX47M', 'TR23P', 'M7XK2', 'P4TRX', 'X2MK3', 'R3P7T', 'K4MT7', 'T2XPR'] as const;

/** Five by seven pixels, a number for each row, with the leftmost column in the highest bit. */
const GLYPHS: Readonly<Record<string, readonly number[]>> = {
  '2': [14, 17, 1, 2, 4, 8, 31],
  '3': [31, 2, 4, 2, 1, 17, 14],
  '4': [2, 6, 10, 18, 31, 2, 2],
  '7': [31, 1, 2, 4, 8, 8, 8],
  K: [17, 18, 20, 24, 20, 18, 17],
  M: [17, 27, 21, 21, 17, 17, 17],
  P: [30, 17, 17, 30, 16, 16, 16],
  R: [30, 17, 17, 30, 20, 18, 17],
  T: [31, 4, 4, 4, 4, 4, 4],
  X: [17, 17, 10, 4, 10, 17, 17],
};

const WIDTH = 160;
const HEIGHT = 48;
const SCALE = 4;
const ADVANCE = 30;
const LEFT = 8;
const WHITE = 255;
const INK = 40;
const NOISE = 170;

function drawGlyph(pixels: Buffer, glyph: readonly number[], at: { x: number; y: number }): void {
  for (const [row, bits] of glyph.entries()) {
    for (let column = 0; column < 5; column++) {
      if ((bits & (16 >> column)) === 0) continue;
      for (let y = 0; y < SCALE; y++) {
        const start = (at.y + row * SCALE + y) * WIDTH + at.x + column * SCALE;
        pixels.fill(INK, start, start + SCALE);
      }
    }
  }
}

function draw(text: string): Buffer {
  const pixels = Buffer.alloc(WIDTH * HEIGHT, WHITE);
  // Two slanted lines behind the letters, as captchas have them.
  for (let x = 0; x < WIDTH; x++) {
    pixels[Math.floor(6 + (x * 34) / WIDTH) * WIDTH + x] = NOISE;
    pixels[Math.floor(42 - (x * 30) / WIDTH) * WIDTH + x] = NOISE;
  }
  for (const [index, letter] of [...text].entries()) {
    drawGlyph(pixels, GLYPHS[letter] ?? [], { x: LEFT + index * ADVANCE, y: 6 + (index % 3) * 5 });
  }
  return drawPng({ width: WIDTH, height: HEIGHT }, (x, y) => [pixels[y * WIDTH + x] ?? WHITE]);
}

const images = CAPTCHA_TEXTS.map((text) => draw(text).toString('base64'));

/** @param index from 0, any number */
export function captchaText(index: number): string {
  return CAPTCHA_TEXTS[index % CAPTCHA_TEXTS.length] ?? CAPTCHA_TEXTS[0];
}

/** The image in base64. @param index from 0, any number */
export function captchaImage(index: number): string {
  return images[index % images.length] ?? '';
}
