import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const TOKENS = readFileSync(join(__dirname, '../../../services/dashboard/brand/tokens.css'), 'utf8');
type Colour = readonly [number, number, number];

/** A variable's two colours, for light and dark. */
function colourOf(name: string): readonly [string, string] {
  const value = new RegExp(`--${name}: ([^;]+);`).exec(TOKENS)?.[1] ?? '';
  const hex = [...value.matchAll(/#[0-9a-f]{3,6}/g)].map(([found]) => found.replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3'));
  const [light = '', dark = light] = hex;
  return [light, dark];
}

/** sRGB without its gamma (IEC 61966-2-1). */
const linear = (hex: string): Colour => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return [red, green, blue];
};
const luminance = ([red, green, blue]: Colour): number => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

/** WCAG 2.2. */
function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(linear(one)), luminance(linear(other))].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** How colours are seen (Machado, Oliveira, Fernandes 2009, severity 1): usually, without red, green or blue receptors. */
const EYES: readonly (readonly Colour[])[] = [
  [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
];

/** CIE L*a*b* with the white of D65. */
function lab([red, green, blue]: Colour): Colour {
  const bend = (value: number): number => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
  const x = bend((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047);
  const y = bend(luminance([red, green, blue]));
  const z = bend((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** ΔE (CIE 1976) for the eye to which the two look most alike. */
function distance(one: string, other: string): number {
  const seen = EYES.map((matrix) =>
    [one, other].map((hex) => {
      const [r, g, b] = linear(hex);
      const [x = 0, y = 0, z = 0] = matrix.map((row) => Math.min(1, Math.max(0, row[0] * r + row[1] * g + row[2] * b)));
      return lab([x, y, z]);
    }),
  );
  return Math.min(...seen.map(([a, b]) => Math.hypot(...(a ?? []).map((part, at) => part - (b?.[at] ?? 0)))));
}

const CHARTS = ['chart-1', 'chart-2', 'chart-3', 'chart-4', 'chart-5', 'chart-6', 'chart-7', 'chart-other'];
const surface = colourOf('surface');

describe.each([
  ['light', 0],
  ['dark', 1],
] as const)('the design in %s colours', (_, scheme) => {
  it('has chart colours of which every two differ by ΔE 20 or more, also with a colour vision deficiency', () => {
    const pairs = CHARTS.flatMap((one, at) => CHARTS.slice(at + 1).map((other) => [one, other] as const));
    const near = pairs.filter(([one, other]) => distance(colourOf(one)[scheme], colourOf(other)[scheme]) < 20);
    expect(near).toEqual([]);
  });

  it('has chart colours that stand out from the page by 3 to 1', () => {
    expect(CHARTS.filter((name) => contrast(colourOf(name)[scheme], surface[scheme]) < 3)).toEqual([]);
  });

  it.each(['text', 'quiet', 'link', 'good', 'warn', 'bad', 'code-key', 'code-string', 'code-number', 'code-word', 'code-comment'])(
    'has --%s readable at 4.5 to 1 on every ground',
    (name) => {
      const grounds = ['surface', 'ground', 'code'];
      expect(grounds.filter((ground) => contrast(colourOf(name)[scheme], colourOf(ground)[scheme]) < 4.5)).toEqual([]);
    },
  );
});
