import { type Writer } from '../../../plugins/server/wire/wire-writer';
import { type HeaderList } from '../http/header-list';

// Replies to PDK calls. Text here is a byte string (one character a byte), because Kong passes on received bytes unchanged, whether or not
// they are UTF-8.

/** Kong omits an empty string from a one-field message. */
export function writeText(to: Writer, value: string | undefined): void {
  if (value !== undefined && value !== '') writeByteString(to, 1, value);
}

function writeByteString(to: Writer, field: number, value: string): void {
  if (!/[^ -~]/.test(value)) to.string(field, value);
  else to.bytes(field, Buffer.from(value, 'latin1'));
}

/** A Struct from names to one value or, for a repeated name, to a list. At most `max` lines count, as in nginx. */
export function writeHeaders(to: Writer, headers: HeaderList, max: number): void {
  const grouped = new Map<string, string | string[]>();
  let seen = 0;
  headers.forEach((name, value) => {
    seen += 1;
    if (seen <= max) group(grouped, name, value);
  });
  for (const [name, value] of grouped) {
    const entry = to.open(1);
    writeByteString(to, 1, name);
    const holder = to.open(2);
    if (Array.isArray(value)) writeList(to, value);
    else writeByteString(to, 3, value);
    to.close(holder);
    to.close(entry);
  }
}

function group(grouped: Map<string, string | string[]>, name: string, value: string): void {
  const earlier = grouped.get(name);
  if (earlier === undefined) grouped.set(name, value);
  else if (Array.isArray(earlier)) earlier.push(value);
  else grouped.set(name, [earlier, value]);
}

function writeList(to: Writer, values: readonly string[]): void {
  const list = to.open(6);
  for (const value of values) {
    const item = to.open(1);
    writeByteString(to, 3, value);
    to.close(item);
  }
  to.close(list);
}
