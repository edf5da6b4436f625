import sharp from 'sharp';
import { noForeground } from '../failures';
import { IMAGE_LIMITS, MIN_FOREGROUND, MAX_FOREGROUND } from '../limits';
import { typeOf } from '../picture';
import { type ResultFrame, upstreamFault } from './frames';

const OPAQUE = 255;

/** Size, and mean alpha 0–1, of a PNG; undefined when it is no usable one. */
async function look(png: Buffer): Promise<{ width: number; height: number; share: number } | undefined> {
  const options = { limitInputPixels: IMAGE_LIMITS.pixels };
  const { width, height, hasAlpha } = await sharp(png, options).metadata();
  if (!hasAlpha) return undefined;
  const alpha = await sharp(png, options).toColourspace('srgb').extractChannel('alpha').raw({ depth: 'uchar' }).toBuffer();
  const { channels } = await sharp(alpha, { raw: { width, height, channels: 1 } }).stats();
  return { width, height, share: (channels[0]?.mean ?? OPAQUE) / OPAQUE };
}

/**
 * Believes nothing of a result: it must be a PNG of the picture's size that shows a part of it.
 * @throws ServiceError 502
 */
export async function checkResult(frame: ResultFrame, size: { readonly width: number; readonly height: number }): Promise<Buffer> {
  const png = Buffer.from(frame.image, 'base64');
  if (typeOf(png) !== 'image/png') throw upstreamFault('bad_response', 'the result is no PNG');
  const seen = await look(png).catch((error: unknown) => {
    throw upstreamFault('bad_response', error instanceof Error ? error : String(error));
  });
  if (!seen) throw upstreamFault('bad_response', 'the result has no alpha channel');
  const isSize = [frame, seen].every(({ width, height }) => width === size.width && height === size.height);
  if (!isSize) throw upstreamFault('bad_response', 'the result has another size than the picture');
  if (seen.share < MIN_FOREGROUND || seen.share > MAX_FOREGROUND) throw noForeground();
  return png;
}
