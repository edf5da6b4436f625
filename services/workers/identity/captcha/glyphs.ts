/** A place on a grid 4 wide and 6 high; the origin is the upper left corner. */
export type Point = readonly [x: number, y: number];
/** A line through its points. */
export type Stroke = readonly Point[];

/**
 * Letters as strokes, because a bare machine has no fonts. A point is two digits, x and y; `|` lifts the pen. Characters that look alike
 * when distorted are left out: 0 O D Q, 1 I L, 2 Z, 5 S, 6 G, 8 B, U V J.
 */
const STROKES: Readonly<Record<string, string>> = {
  '2': '01 10 30 41 42 06 46',
  '3': '01 10 30 41 42 33 13|33 44 45 36 16 05',
  '4': '36 30 04 44',
  '6': '41 30 10 01 05 16 36 45 44 33 13 04',
  '7': '00 40 16',
  '9': '05 16 36 45 41 30 10 01 02 13 33 42',
  A: '06 20 46|14 34',
  C: '41 30 10 01 05 16 36 45',
  E: '40 00 06 46|03 33',
  F: '40 00 06|03 33',
  H: '00 06|40 46|03 43',
  K: '00 06|40 03 46',
  M: '06 00 23 40 46',
  N: '06 00 46 40',
  P: '06 00 30 41 42 33 03',
  R: '06 00 30 41 42 33 03|23 46',
  T: '00 40|20 26',
  U: '00 05 16 36 45 40',
  W: '00 16 22 36 40',
  X: '00 46|40 06',
  Y: '00 23 40|23 26',
};

/** Every character that can be drawn. */
export const CAPTCHA_ALPHABET = Object.keys(STROKES).join('');

/** @throws Error for a character outside {@link CAPTCHA_ALPHABET} */
export function strokesOf(character: string): readonly Stroke[] {
  const strokes = STROKES[character];
  if (strokes === undefined) throw new Error('a captcha holds a character that cannot be drawn');
  return strokes.split('|').map((stroke) => stroke.split(' ').map((point): Point => [Number(point.charAt(0)), Number(point.charAt(1))]));
}
