/** A position in a list of decisions, newest first: everything after it is older. */
export interface LogPlace {
  /** Whole microseconds since 1970, as text: a Date has none, and requests of one millisecond are common. */
  readonly micros: string;
  readonly requestId: string;
}

/** Far beyond every decision, and within the range of a timestamp. */
const FIRST: LogPlace = { micros: '9999999999999999', requestId: '' };

/** An unreadable cursor is the beginning. */
export function readLogPlace(cursor: string | undefined): LogPlace {
  const text = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString();
  const [, micros, requestId] = /^(\d{1,16})\|([^\0]{1,100})$/.exec(text) ?? [];
  return micros === undefined || requestId === undefined ? FIRST : { micros, requestId };
}

export function writeLogPlace({ micros, requestId }: LogPlace): string {
  return Buffer.from(`${micros}|${requestId}`).toString('base64url');
}
