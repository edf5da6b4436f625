import sharp from 'sharp';
import { type Finish, finishCutOut, frameOf } from '../../../services/workers/image/finish-cut-out';

const SIZE = { width: 80, height: 60 };
/** A red block from (20, 10) to (59, 29), and a speck that nobody sees. */
async function cutOut(): Promise<Buffer> {
  const rgba = Buffer.alloc(SIZE.width * SIZE.height * 4);
  for (let y = 10; y < 30; y++) for (let x = 20; x < 60; x++) rgba.set([200, 40, 40, 255], (y * SIZE.width + x) * 4);
  rgba.set([0, 0, 0, 12], (59 * SIZE.width + 79) * 4);
  return sharp(rgba, { raw: { ...SIZE, channels: 4 } })
    .png()
    .toBuffer();
}
const finish = async (changes: Partial<Finish>) =>
  finishCutOut(await cutOut(), SIZE, { format: 'png', maxSide: 0, crop: false, background: undefined, ...changes });
const pixelAt = async (image: Buffer, left: number, top: number) => [
  ...(await sharp(image).ensureAlpha().extract({ left, top, width: 1, height: 1 }).raw().toBuffer()),
];

it('a cut-out of which nothing else is wanted keeps its bytes', async () => {
  expect(await finish({})).toEqual({ image: await cutOut(), mime: 'image/png', ...SIZE });
});

it('cropping leaves what can be seen', async () => {
  const { image, ...facts } = await finish({ crop: true });
  expect(facts).toEqual({ mime: 'image/png', width: 40, height: 20 });
  expect(await sharp(image).metadata()).toMatchObject({ width: 40, height: 20, hasAlpha: true });
  expect(await pixelAt(image, 0, 0)).toEqual([200, 40, 40, 255]);
});

it('the longer side is shrunk, after cropping, and never enlarged', async () => {
  expect(await finish({ maxSide: 40 })).toMatchObject({ width: 40, height: 30 });
  expect(await finish({ maxSide: 20, crop: true })).toMatchObject({ width: 20, height: 10 });
  expect(await finish({ maxSide: 500 })).toMatchObject(SIZE);
});

it('a colour stands where the background was', async () => {
  const { image } = await finish({ background: '#00ff80' });
  expect((await sharp(image).metadata()).hasAlpha).toBe(false);
  expect([await pixelAt(image, 0, 0), await pixelAt(image, 30, 20)]).toEqual([
    [0, 255, 128, 255],
    [200, 40, 40, 255],
  ]);
});

it('WebP keeps transparency, and its limit of a side is told before anything is encoded', async () => {
  const { image, mime } = await finish({ format: 'webp' });
  expect([mime, (await sharp(image).metadata()).format, (await pixelAt(image, 0, 0))[3]]).toEqual(['image/webp', 'webp', 0]);
  const size = { width: 17_000, height: 16 };
  const long = await sharp({ create: { ...size, channels: 4, background: '#ff000080' } })
    .png()
    .toBuffer();
  const webp = { format: 'webp', maxSide: 0, crop: false, background: undefined } as const;
  await expect(finishCutOut(long, size, webp)).rejects.toMatchObject({ problem: 'invalid_request' });
  expect(await finishCutOut(long, size, { ...webp, maxSide: 8_000 })).toMatchObject({ width: 8_000, mime: 'image/webp' });
});

it('a picture of which nothing can be seen is not cropped', () => {
  expect(frameOf(new Uint8Array(12).fill(12), { width: 4, height: 3 })).toEqual({ left: 0, top: 0, width: 4, height: 3 });
});
