import { invalidInput } from '../errors';

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Decodes bytes that a caller sent.
 * @param field named in the message
 * @throws ServiceError 400 when they are not UTF-8
 */
export function decodeUtf8(bytes: Uint8Array, field: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalidInput([{ field, message: 'is not valid UTF-8' }]);
  }
}
