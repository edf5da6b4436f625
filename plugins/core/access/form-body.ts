import { readParameter, removeParameter } from './raw-parameters';

/** A form field found in a request body, and the body without it. */
export interface FormField {
  readonly values: readonly string[];
  /** The body without the field's pairs or parts; every other byte stays as it was. */
  remove(): Buffer;
}

/** The media types in which a browser or curl sends a form. */
export function isForm(contentType: string): boolean {
  return /^\s*(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i.test(contentType);
}

/** Reads one field of an urlencoded or multipart form. A body that is no such form has no field. */
export function readFormField(contentType: string, body: Buffer, name: string): FormField {
  if (/multipart/i.test(contentType)) return readMultipartField(contentType, body, name);
  // latin1 keeps every byte, so that removing the field cannot damage the others.
  const raw = body.toString('latin1');
  return { values: readParameter(raw, name), remove: () => Buffer.from(removeParameter(raw, name), 'latin1') };
}

/** Services refuse forms with far fewer parts, so a key after this many is not looked for. */
const MAX_PARTS = 1_000;

/** RFC 2046 allows 70 characters. */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;

interface Part {
  /** From the first byte of its delimiter line to the first byte of the next delimiter line. */
  readonly start: number;
  readonly end: number;
  readonly head: string;
  readonly content: string;
}

function readMultipartField(contentType: string, body: Buffer, name: string): FormField {
  const match = BOUNDARY.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  const parts = boundary === undefined ? [] : listParts(body, boundary).filter((part) => fieldName(part.head) === name);
  return { values: parts.map((part) => part.content), remove: () => cutParts(body, parts) };
}

function listParts(body: Buffer, boundary: string): Part[] {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  const parts: Part[] = [];
  let start = body.indexOf(delimiter.subarray(2));
  for (let count = 0; start >= 0 && count < MAX_PARTS; count++) {
    // After `--` and the boundary, at the line end.
    const lineEnd = start + delimiter.length - 2;
    const next = body.indexOf(delimiter, lineEnd);
    if (next < 0) break;
    // Only this part is searched: searching all that follows would take minutes for a body of nothing but delimiters.
    const part = body.subarray(lineEnd, next + 2);
    const headEnd = part.indexOf('\r\n\r\n', 0, 'latin1');
    if (headEnd >= 0) {
      parts.push({
        start,
        end: next + 2,
        head: part.toString('latin1', 2, headEnd),
        content: part.toString('utf8', headEnd + 4, part.length - 2),
      });
    }
    start = next + 2;
  }
  return parts;
}

function fieldName(head: string): string | undefined {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(head)?.[1];
  const match = /(?:^|;)\s*name=(?:"([^"]*)"|([^\s;"]+))/i.exec(disposition ?? '');
  return match?.[1] ?? match?.[2];
}

function cutParts(body: Buffer, parts: readonly Part[]): Buffer {
  const kept: Buffer[] = [];
  let from = 0;
  for (const part of parts) {
    kept.push(body.subarray(from, part.start));
    from = part.end;
  }
  kept.push(body.subarray(from));
  return Buffer.concat(kept);
}
