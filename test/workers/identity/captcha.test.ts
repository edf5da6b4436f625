import sharp from 'sharp';
import { isCaptchaSolved, randomCaptchaText, testCaptchaText } from '../../../services/workers/identity/captcha/captcha-text';
import { drawCaptcha } from '../../../services/workers/identity/captcha/draw-captcha';
import { CAPTCHA_ALPHABET, strokesOf } from '../../../services/workers/identity/captcha/glyphs';
import { CAPTCHA_TEXTS, captchaImage } from '../../../services/sandbox/identity/identity-captcha';

/** Share of dark pixels, 0 to 1. */
async function inkOf(bytes: Buffer): Promise<number> {
  const { data, info } = await sharp(bytes, { failOn: 'warning' }).greyscale().raw().toBuffer({ resolveWithObject: true });
  return data.filter((grey) => grey < 128).length / (info.width * info.height);
}

it('texts are five characters of an alphabet without look-alikes, and do not repeat', () => {
  const texts = Array.from({ length: 2_000 }, randomCaptchaText);
  for (const text of texts) expect(text).toMatch(new RegExp(`^[${CAPTCHA_ALPHABET}]{5}$`));
  expect(CAPTCHA_ALPHABET).not.toMatch(/[01OILQDSZBGVJ58]/);
  // 2,000 of 4 million: one pair is to be expected every other run, five pairs never.
  expect(new Set(texts).size).toBeGreaterThan(1_995);
  const used = new Set(texts.join(''));
  expect(used.size).toBe(CAPTCHA_ALPHABET.length);
});

it('every character is drawn, without a font, as dark strokes on white', async () => {
  for (const character of CAPTCHA_ALPHABET) {
    expect(strokesOf(character).flat().length).toBeGreaterThan(2);
    for (const [x, y] of strokesOf(character).flat()) expect([x >= 0 && x <= 4, y >= 0 && y <= 6]).toEqual([true, true]);
  }
  const images = await Promise.all((CAPTCHA_ALPHABET.match(/.{1,5}/g) ?? []).map(drawCaptcha));
  for (const { bytes, mediaType } of images) {
    const { format, height } = await sharp(bytes).metadata();
    expect([format, height, mediaType]).toEqual(['png', 72, 'image/png']);
    const ink = await inkOf(bytes);
    expect(ink).toBeGreaterThan(0.06);
    expect(ink).toBeLessThan(0.35);
  }
});

it('the same text looks different each time', async () => {
  const images = await Promise.all(Array.from({ length: 10 }, () => drawCaptcha('KX47M')));
  expect(new Set(images.map(({ bytes }) => bytes.toString('base64'))).size).toBe(10);
});

it('nothing but the strokes is in the picture: its text stands in no metadata', async () => {
  const { bytes } = await drawCaptcha('KX47M');
  expect(bytes.toString('latin1')).not.toContain('KX47M');
  const { exif, xmp, comments } = await sharp(bytes).metadata();
  expect([exif, xmp, comments]).toEqual([undefined, undefined, undefined]);
});

it('a solution is taken in small letters and with gaps, and in no other form', () => {
  for (const right of ['KX47M', 'kx47m', ' kx 47m ']) expect(isCaptchaSolved('KX47M', right)).toBe(true);
  for (const wrong of ['', 'KX47', 'KX47MM', 'KX47N', 'WRONG']) expect(isCaptchaSolved('KX47M', wrong)).toBe(false);
});

it('test keys see the captchas that the sandbox documents', () => {
  expect(CAPTCHA_TEXTS.map((_, index) => testCaptchaText(index))).toEqual([...CAPTCHA_TEXTS]);
  expect(testCaptchaText(CAPTCHA_TEXTS.length)).toBe(CAPTCHA_TEXTS[0]);
});

it('the captchas of the sandbox are PNGs that a decoder accepts, all different', async () => {
  const images = CAPTCHA_TEXTS.map((_, index) => captchaImage(index));
  expect(new Set(images).size).toBe(CAPTCHA_TEXTS.length);
  for (const image of images) {
    const { format, width, height } = await sharp(Buffer.from(image, 'base64'), { failOn: 'warning' }).metadata();
    expect([format, width, height]).toEqual(['png', 160, 48]);
  }
});
