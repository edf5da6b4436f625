import sharp, { type Metadata, type Sharp } from 'sharp';
import { ServiceError } from '../../kit/errors';
import { badPicture } from './failures';
import { IMAGE_LIMITS } from './limits';

export type PictureType = 'image/png' | 'image/jpeg' | 'image/webp';

/** A picture whose header has been read: nothing is decoded yet. */
export interface Picture {
  readonly bytes: Buffer;
  readonly mime: PictureType;
  /** Upright, in pixels. */
  readonly width: number;
  readonly height: number;
  /** False when the file says that it is to be turned or mirrored. */
  readonly isUpright: boolean;
}

const TYPES: Readonly<Record<string, PictureType>> = { png: 'image/png', jpeg: 'image/jpeg', webp: 'image/webp' };
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/** By the first bytes, whatever anybody declared. */
export function typeOf(bytes: Buffer): PictureType | undefined {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  if (bytes.subarray(0, JPEG.length).equals(JPEG)) return 'image/jpeg';
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isWebp ? 'image/webp' : undefined;
}

function tooLarge(detail: string, members: Record<string, number>): ServiceError {
  return new ServiceError('payload_too_large', { detail, members: { ...members, errors: [{ field: 'image', message: 'is too large' }] } });
}

async function readHeader(bytes: Buffer): Promise<Metadata> {
  try {
    return await sharp(bytes, { limitInputPixels: false }).metadata();
  } catch (error) {
    throw badPicture('cannot be decoded', error);
  }
}

/**
 * Looks at a picture before anything is decoded: type, then size.
 * @throws ServiceError 400 for what is no PNG, JPEG or WebP, is broken or too small; 413 for too many bytes or pixels
 */
export async function openPicture(bytes: Buffer): Promise<Picture> {
  const { fileBytes, pixels, leastSide } = IMAGE_LIMITS;
  if (bytes.length > fileBytes) throw tooLarge(`The image is larger than ${fileBytes} bytes.`, { limit_bytes: fileBytes });
  if (!typeOf(bytes)) throw badPicture('must be a PNG, JPEG or WebP image');
  const { format, autoOrient, orientation = 1 } = await readHeader(bytes);
  const mime = TYPES[format];
  if (!mime) throw badPicture('must be a PNG, JPEG or WebP image');
  const { width, height } = autoOrient;
  if (width * height > pixels) {
    throw tooLarge(`The image has ${width} × ${height} pixels; at most ${pixels} in all are accepted.`, { limit_pixels: pixels });
  }
  if (Math.min(width, height) < leastSide) throw badPicture(`must be at least ${leastSide} pixels wide and high`);
  return { bytes, mime, width, height, isUpright: orientation === 1 };
}

/** Ready to decode, upright, sRGB; the first frame of an animation. A picture cut off in the middle fails. */
function decoder(picture: Picture): Sharp {
  return sharp(picture.bytes, { limitInputPixels: IMAGE_LIMITS.pixels, failOn: 'error' }).autoOrient().toColourspace('srgb');
}

/**
 * Four bytes a pixel, rows from the top.
 * @param size of the result; the picture's own unless given. Shrunk while it is decoded, so that the whole is never held.
 * @throws ServiceError 400
 */
export async function decodePicture(picture: Picture, size?: { readonly width: number; readonly height: number }): Promise<Buffer> {
  try {
    const whole = decoder(picture).ensureAlpha();
    const decoded = size ? whole.resize(size.width, size.height, { fit: 'fill', kernel: 'lanczos3', fastShrinkOnLoad: false }) : whole;
    return await decoded.raw({ depth: 'uchar' }).toBuffer();
  } catch (error) {
    throw badPicture('cannot be decoded', error);
  }
}

/** The same picture for an upstream that may not know how to turn it; unchanged when there is nothing to turn. @throws ServiceError 400 */
export async function uprightPicture(picture: Picture): Promise<Pick<Picture, 'bytes' | 'mime'>> {
  if (picture.isUpright) return picture;
  try {
    return { bytes: await decoder(picture).png({ compressionLevel: 3 }).toBuffer(), mime: 'image/png' };
  } catch (error) {
    throw badPicture('cannot be decoded', error);
  }
}
