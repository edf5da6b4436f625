import { z } from 'zod';
import { type UploadedFile } from '../../kit/input/body-mode';
import { invalidInput, ServiceError } from '../../kit/errors';
import { pictureTypeOf } from '../../kit/picture-type';

/** Maximum bytes of an image. The worker has the same bound. */
export const MAX_IMAGE_BYTES = 10_485_760;

const FIELDS = ['image', 'image_base64'] as const;
type Field = (typeof FIELDS)[number];

/** A data URI's media type and parameters are short. The image follows them. */
const DATA_URI = /^data:([^,]{0,200}),/i;

function bad(field: Field, message: string): ServiceError {
  return invalidInput([{ field, message }]);
}

/** The base64 in a text: without a data URI's head, in the standard alphabet, without line breaks. */
function base64In(text: string, field: Field): string {
  const head = DATA_URI.exec(text);
  if (head && !/;base64$/i.test((head[1] ?? '').trim())) throw bad(field, 'is a data URI without base64');
  const body = (head ? text.slice(head[0].length) : text).replaceAll(/[\r\n\t]/g, '');
  // A form or query turns a plus sign that was not percent-encoded into a space, which base64 never has.
  return body
    .trim()
    .replaceAll(' ', '+')
    .replace(/={1,2}$/, '');
}

/** A caller's text as bytes. @throws ServiceError 400 */
function decodeText(text: string, field: Field): Buffer {
  const trimmed = text.trim();
  if (trimmed === '') throw bad(field, 'must not be empty');
  if (/^(https?|ftp|file):/i.test(trimmed)) throw bad(field, 'must be the image itself in base64: addresses are not fetched');
  const base64 = base64In(trimmed, field);
  const bytes = Buffer.from(base64, 'base64');
  // The decoder skips characters that are not base64, so anything wrong makes the result too short.
  const isWhole = base64.length % 4 !== 1 && bytes.length === Math.floor((base64.length * 3) / 4);
  if (!isWhole || bytes.length === 0) throw bad(field, 'is not valid base64');
  return bytes;
}

/** A file is the image itself, or its base64 as text. */
function decodeFile(file: UploadedFile, field: Field): Buffer {
  if (file.bytes.length === 0) throw bad(field, 'must not be empty');
  const isText = !pictureTypeOf(file.bytes) && file.bytes.subarray(0, 1_000).every((byte) => byte >= 0x09 && byte < 0x7f);
  return isText && !file.bytes.includes('<', 0, 'latin1') ? decodeText(file.bytes.toString('latin1'), field) : file.bytes;
}

/** The image, and the field that had it. */
export interface FoundImage {
  readonly field: Field;
  readonly bytes: Buffer;
}

interface Given {
  readonly field: Field;
  readonly decode: () => Buffer;
}

function givenIn(texts: Readonly<Partial<Record<Field, string | undefined>>>, files: ReadonlyMap<string, UploadedFile>): Given[] {
  const given: (Given & { isEmpty: boolean })[] = [];
  for (const field of FIELDS) {
    const [text, file] = [texts[field], files.get(field)];
    if (text !== undefined) given.push({ field, isEmpty: text.trim() === '', decode: () => decodeText(text, field) });
    if (file) given.push({ field, isEmpty: file.bytes.length === 0, decode: () => decodeFile(file, field) });
  }
  // HTML forms send empty fields too. They count only if there is nothing else.
  const filled = given.filter(({ isEmpty }) => !isEmpty);
  return filled.length > 0 ? filled : given.slice(0, 1);
}

/**
 * The image that a caller sent. Its bytes must be a PNG, JPEG or WebP.
 * @throws ServiceError 400 missing, given twice, not base64 or no such image; 413 too large
 */
export function findImage(
  texts: Readonly<Partial<Record<Field, string | undefined>>>,
  files: ReadonlyMap<string, UploadedFile>,
): FoundImage {
  const [given, second] = givenIn(texts, files);
  if (!given) throw bad('image', 'is required: send it as image or image_base64');
  if (second) {
    if (second.field === given.field) throw bad(given.field, 'is given more than once');
    throw invalidInput(FIELDS.map((field) => ({ field, message: 'cannot be combined with the other: send image or image_base64' })));
  }
  const bytes = given.decode();
  if (bytes.length > MAX_IMAGE_BYTES) {
    throw new ServiceError('payload_too_large', {
      detail: `The image is larger than the ${MAX_IMAGE_BYTES} bytes that this route accepts.`,
      members: { limit_bytes: MAX_IMAGE_BYTES, errors: [{ field: given.field, message: 'is too large' }] },
    });
  }
  if (!pictureTypeOf(bytes)) throw bad(given.field, 'must be a PNG, JPEG or WebP image');
  return { field: given.field, bytes };
}

const complaints = z.array(z.object({ field: z.literal('image'), message: z.string() }));

/** Rewrites a failure of the worker, which does not know the fields, so that it names the field that the caller sent. */
export function aboutField(error: unknown, field: Field): unknown {
  if (!(error instanceof ServiceError)) return error;
  const { members, ...options } = error.options;
  const found = complaints.safeParse(members?.errors);
  if (!found.success) return error;
  const errors = found.data.map(({ message }) => ({ field, message }));
  const named = error.problem === 'invalid_request' ? invalidInput(errors).options : {};
  return new ServiceError(error.problem, { ...options, ...named, members: { ...members, errors } });
}
