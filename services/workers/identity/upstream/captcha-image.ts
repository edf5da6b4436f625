import { badAnswer } from './source-failure';
import { type CaptchaImage } from '../captcha/draw-captcha';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const PNG_MAGIC = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG_MAGIC = Buffer.from([0xff, 0xd8, 0xff]);

/**
 * Reads an image. Its type follows from its bytes.
 * @throws ServiceError 502
 */
export function parseCaptchaBytes(bytes: Buffer): CaptchaImage {
  if (bytes.subarray(0, PNG_MAGIC.length).equals(PNG_MAGIC)) return { bytes, mediaType: 'image/png' };
  if (bytes.subarray(0, JPEG_MAGIC.length).equals(JPEG_MAGIC)) return { bytes, mediaType: 'image/jpeg' };
  throw badAnswer('the captcha is not an image');
}

/**
 * Reads bare base64 or a data URI.
 * @throws ServiceError 502
 */
export function parseCaptchaText(text: string): CaptchaImage {
  const base64 = text.replace(/^data:image\/[\w.+-]+;base64,/, '');
  if (!BASE64.test(base64)) throw badAnswer('the captcha is not base64');
  return parseCaptchaBytes(Buffer.from(base64, 'base64'));
}
