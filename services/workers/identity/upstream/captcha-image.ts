import { pictureTypeOf } from '../../../kit/picture-type';
import { type CaptchaImage } from '../captcha/draw-captcha';
import { badAnswer } from './source-failure';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Reads an image. Its type follows from its bytes.
 * @throws ServiceError 502
 */
export function parseCaptchaBytes(bytes: Buffer): CaptchaImage {
  const mediaType = pictureTypeOf(bytes);
  if (mediaType === undefined || mediaType === 'image/webp') throw badAnswer('the captcha is not an image');
  return { bytes, mediaType };
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
