import sharp, { type Metadata, type Sharp } from 'sharp';
import { invalidInput, ServiceError } from '../../kit/errors';
import { pictureTypeOf, type PictureType } from '../../kit/picture-type';
import { badPicture } from './failures';
import { fitInto, type Size } from './vision/raster';
import { IMAGE_LIMITS } from './limits';

/** A picture whose header has been read, but which is not decoded yet. */
export interface Picture {
  readonly bytes: Buffer;
  readonly mime: PictureType;
  /** Upright size in pixels at which it is processed: the file's own size unless that exceeds the limit of a cut-out. */
  readonly width: number;
  readonly height: number;
  readonly isShrunk: boolean;
  /** False when the file asks for a rotation or a mirror image. */
  readonly isUpright: boolean;
}

const TYPES: Readonly<Record<string, PictureType>> = { png: 'image/png', jpeg: 'image/jpeg', webp: 'image/webp' };

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

const areaOf = ({ width, height }: Size): number => width * height;

/**
 * The size at which to process.
 * @throws ServiceError 400, 413
 */
function workingSize(own: Size, maxSide: number): Size {
  const { pixels, sentPixels, leastSide } = IMAGE_LIMITS;
  const has = `The image has ${own.width} × ${own.height} pixels`;
  if (areaOf(own) > sentPixels) throw tooLarge(`${has}; at most ${sentPixels} in all are accepted.`, { limit_pixels: sentPixels });
  if (areaOf(own) <= pixels) return own;
  const size = maxSide > 0 ? fitInto(own, maxSide) : own;
  if (areaOf(size) > pixels) {
    const mostSide = Math.floor(Math.max(own.width, own.height) * Math.sqrt(pixels / areaOf(own)));
    throw tooLarge(`${has}; a cut-out has at most ${pixels}: request one with a max_side of ${mostSide} or less.`, {
      limit_pixels: pixels,
    });
  }
  if (Math.min(size.width, size.height) < leastSide) {
    throw invalidInput([{ field: 'max_side', message: `leaves this picture less than ${leastSide} pixels wide or high` }]);
  }
  return size;
}

/**
 * Checks a picture before it is decoded: its type, then its size.
 * @param maxSide maximum pixels of the result's longer side, 0 for the picture's own; required for a picture with more pixels than a
 * cut-out may have
 * @throws ServiceError 400 for anything but a PNG, JPEG or WebP, and for a broken or too small picture; 413 for too many bytes or pixels
 */
export async function openPicture(bytes: Buffer, maxSide = 0): Promise<Picture> {
  const { fileBytes, leastSide } = IMAGE_LIMITS;
  if (bytes.length > fileBytes) throw tooLarge(`The image is larger than ${fileBytes} bytes.`, { limit_bytes: fileBytes });
  if (!pictureTypeOf(bytes)) throw badPicture('must be a PNG, JPEG or WebP image');
  const { format, autoOrient, orientation = 1 } = await readHeader(bytes);
  const mime = TYPES[format];
  if (!mime) throw badPicture('must be a PNG, JPEG or WebP image');
  const { width, height } = workingSize(autoOrient, maxSide);
  if (Math.min(width, height) < leastSide) throw badPicture(`must be at least ${leastSide} pixels wide and high`);
  return { bytes, mime, width, height, isShrunk: areaOf(autoOrient) > IMAGE_LIMITS.pixels, isUpright: orientation === 1 };
}

/**
 * A decoder of the picture: upright, sRGB, at the picture's size; the first frame of an animation. A truncated picture fails. It shrinks
 * while it decodes, so that the whole picture is never in memory.
 */
function decoder(picture: Picture, size: Size = picture): Sharp {
  const whole = sharp(picture.bytes, { limitInputPixels: IMAGE_LIMITS.sentPixels, failOn: 'error' }).autoOrient().toColourspace('srgb');
  if (size === picture && !picture.isShrunk) return whole;
  return whole.ensureAlpha().resize(size.width, size.height, { fit: 'fill', kernel: 'lanczos3', fastShrinkOnLoad: false });
}

/**
 * Decodes to four bytes a pixel, with rows from the top.
 * @param size of the result. Default: the picture's
 * @throws ServiceError 400
 */
export async function decodePicture(picture: Picture, size?: Size): Promise<Buffer> {
  try {
    return await decoder(picture, size).ensureAlpha().raw({ depth: 'uchar' }).toBuffer();
  } catch (error) {
    throw badPicture('cannot be decoded', error);
  }
}

/**
 * The same picture for an upstream that may not be able to rotate or shrink it; unchanged when there is nothing to do.
 * @throws ServiceError 400
 */
export async function uprightPicture(picture: Picture): Promise<Pick<Picture, 'bytes' | 'mime'>> {
  if (picture.isUpright && !picture.isShrunk) return picture;
  try {
    return { bytes: await decoder(picture).png({ compressionLevel: 3 }).toBuffer(), mime: 'image/png' };
  } catch (error) {
    throw badPicture('cannot be decoded', error);
  }
}
