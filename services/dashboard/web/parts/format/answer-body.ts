import { type TryAnswer } from '../../../contract/try';

export type Answered = Extract<TryAnswer, { outcome: 'answered' }>;

/** The body of a response in the form that pages show: a picture, a text, or bytes to download. */
export interface ShownBody {
  /** A note for the reader; may be empty. */
  readonly note: string;
  /** A data URI. */
  readonly picture?: string | undefined;
  /** JSON in lines. */
  readonly text?: string | undefined;
  /** A data URI. */
  readonly download?: string | undefined;
}

/** Why there was no response. */
export const FAILURES = {
  unreachable: 'The gateway could not be reached, or dropped the connection. Try again shortly.',
  timeout: 'No complete response in time.',
} as const;

/** A page with more text than this is slow to scroll. */
const MAX_SHOWN = 200_000;
const CUT = 'The response is longer than 2 MiB; this is the beginning.';
/** How pictures begin in base64. */
const PICTURES = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const;

/** @returns undefined for a text that is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A picture somewhere in a response, for example a captcha. */
function pictureIn(value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) {
      const found = pictureIn(member);
      if (found !== undefined) return found;
    }
  }
  if (typeof value !== 'string') return undefined;
  if (value.startsWith('data:image/')) return value;
  const type = PICTURES.find(([start]) => value.startsWith(start))?.[1];
  return type && `data:${type};base64,${value}`;
}

function bytesOf({ body, headers, isCut }: Answered): ShownBody {
  const type = headers['content-type'] ?? 'application/octet-stream';
  const source = `data:${type};base64,${body}`;
  if (type.startsWith('image/') && !isCut) return { note: '', picture: source };
  return { note: `${isCut ? `${CUT} ` : ''}It is binary data of type ${type}.`, download: source };
}

/** Reads the body of a response into a form that pages can show. */
export function readBody(answer: Answered): ShownBody {
  const { body, encoding, isCut } = answer;
  if (body === '') return { note: 'The response has no body.' };
  if (encoding === 'base64') return bytesOf(answer);
  const value = parseJson(body);
  const text = value === undefined ? body : JSON.stringify(value, null, 2);
  return { note: isCut ? CUT : '', picture: pictureIn(value), text: text.slice(0, MAX_SHOWN) };
}

/** The headers of a response, one a line. */
export function headerLines({ headers }: Answered): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
