import sharp, { type Sharp } from 'sharp';
import { invalidInput, ServiceError } from '../../kit/errors';
import { type RemoveBackgroundRequest__Output } from '../generated/image/image/v1/RemoveBackgroundRequest';
import { IMAGE_LIMITS } from './limits';

/** The form in which the caller wants the cut-out. */
export interface Finish {
  readonly format: 'png' | 'webp';
  /** Maximum pixels of the longer side; 0 for the picture's own size. */
  readonly maxSide: number;
  /** True to cut off the transparent margins. */
  readonly crop: boolean;
  /** `#rrggbb` in place of the background; undefined leaves it transparent. */
  readonly background: string | undefined;
}

export interface FinishedCutOut {
  readonly image: Buffer;
  readonly mime: 'image/png' | 'image/webp';
  readonly width: number;
  readonly height: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Limit of the format itself. */
const MAX_WEBP_SIDE = 16_383;
/** A twentieth of full alpha. Fainter specks are invisible and must not keep a margin in place. */
const MIN_SEEN = 13;
const WEBP = { quality: 90, effort: 2 };

const PNG_AS_IT_IS: Finish = { format: 'png', maxSide: 0, crop: false, background: undefined };

function isUnchanged(finish: Finish): boolean {
  return (Object.keys(PNG_AS_IT_IS) as (keyof Finish)[]).every((name) => finish[name] === PNG_AS_IT_IS[name]);
}

const open = (png: Buffer): Sharp => sharp(png, { limitInputPixels: IMAGE_LIMITS.pixels });

/** The smallest frame around all visible pixels; the whole picture when none is visible. */
export function frameOf(alpha: Uint8Array, { width, height }: Size): { left: number; top: number; width: number; height: number } {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0; y < height; y++) {
    const row = alpha.subarray(y * width, (y + 1) * width);
    const first = row.findIndex((value) => value >= MIN_SEEN);
    if (first < 0) continue;
    top = Math.min(top, y);
    bottom = y;
    left = Math.min(left, first);
    right = Math.max(
      right,
      row.findLastIndex((value) => value >= MIN_SEEN),
    );
  }
  return right < 0 ? { left: 0, top: 0, width, height } : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

async function cropped(png: Buffer, size: Size): Promise<Sharp> {
  const alpha = await open(png).toColourspace('srgb').extractChannel('alpha').raw({ depth: 'uchar' }).toBuffer();
  return open(png).extract(frameOf(alpha, size));
}

/** The longer side after cropping, shrunk to the requested size. */
async function sideOf(picture: Sharp): Promise<number> {
  const { info } = await picture.clone().raw().toBuffer({ resolveWithObject: true });
  return Math.max(info.width, info.height);
}

/**
 * Crops, then shrinks, then colours the cut-out, and encodes it in its format.
 * @param png with an alpha channel, of `size`; returned unchanged when nothing else was requested
 * @throws ServiceError 400 for a picture that the format cannot hold
 */
export async function finishCutOut(png: Buffer, size: Size, finish: Finish): Promise<FinishedCutOut> {
  if (isUnchanged(finish)) return { image: png, mime: 'image/png', ...size };
  const { format, maxSide, crop, background } = finish;
  let picture = crop ? await cropped(png, size) : open(png);
  if (maxSide > 0) picture = picture.resize({ width: maxSide, height: maxSide, fit: 'inside', withoutEnlargement: true });
  if (background !== undefined) picture = picture.flatten({ background });
  if (format === 'webp' && Math.max(size.width, size.height) > MAX_WEBP_SIDE && (await sideOf(picture)) > MAX_WEBP_SIDE)
    throw tooLongForWebp();
  const { data, info } = await (format === 'webp' ? picture.webp(WEBP) : picture.png()).toBuffer({ resolveWithObject: true });
  return { image: data, mime: `image/${format}`, width: info.width, height: info.height };
}

function tooLongForWebp(): ServiceError {
  return invalidInput([
    { field: 'format', message: `webp holds at most ${MAX_WEBP_SIDE} pixels a side: request png or a smaller max_side` },
  ]);
}

const COLOUR = /^#[0-9a-f]{6}$/;

/**
 * Reads the requested form from a call, which the service has checked.
 * @throws ServiceError 500 for values that the service would not have let pass
 */
export function readFinish({ format, maxSide, crop, background }: RemoveBackgroundRequest__Output): Finish {
  if (!['', 'png', 'webp'].includes(format) || (background !== '' && !COLOUR.test(background))) {
    throw new ServiceError('processing_failed', { cause: new Error('a request asks for an unknown form of cut-out') });
  }
  return { format: format === 'webp' ? 'webp' : 'png', maxSide, crop, background: background === '' ? undefined : background };
}
