import { type Writer } from '../../../plugins/server/wire/wire-writer';
import { type Route, type Service } from '../config/kong-yml';
import { type HeaderList } from '../http/header-list';
import { type QueryValue } from '../http/query-args';

// Replies of the plugin kit. Text here is a byte string (one character a byte), because Kong passes on the bytes that came, whether
// or not they are UTF-8.

/** Kong leaves an empty string or a zero out of a one-field message. */
export function writeText(to: Writer, value: string | undefined): void {
  if (value !== undefined && value !== '') writeByteString(to, 1, value);
}

export function writeNumber(to: Writer, value: number): void {
  if (value !== 0) to.int(1, value);
}

function writeByteString(to: Writer, field: number, value: string): void {
  if (!/[^ -~]/.test(value)) to.string(field, value);
  else to.bytes(field, Buffer.from(value, 'latin1'));
}

/** A Struct of names to one value or, when a name repeats, to a list. At most `max` lines count, as in nginx. */
export function writeHeaders(to: Writer, headers: HeaderList, max: number): void {
  const grouped = new Map<string, QueryValue | QueryValue[]>();
  let seen = 0;
  headers.forEach((name, value) => {
    seen += 1;
    if (seen <= max) group(grouped, name, value);
  });
  writeGrouped(to, grouped);
}

export function writeQuery(to: Writer, args: readonly [string, QueryValue][]): void {
  const grouped = new Map<string, QueryValue | QueryValue[]>();
  for (const [name, value] of args) group(grouped, name, value);
  writeGrouped(to, grouped);
}

function group(grouped: Map<string, QueryValue | QueryValue[]>, name: string, value: QueryValue): void {
  const earlier = grouped.get(name);
  if (earlier === undefined) grouped.set(name, value);
  else if (Array.isArray(earlier)) earlier.push(value);
  else grouped.set(name, [earlier, value]);
}

function writeGrouped(to: Writer, grouped: ReadonlyMap<string, QueryValue | QueryValue[]>): void {
  for (const [name, value] of grouped) {
    const entry = to.open(1);
    writeByteString(to, 1, name);
    const holder = to.open(2);
    if (Array.isArray(value)) writeList(to, value);
    else writeScalar(to, value);
    to.close(holder);
    to.close(entry);
  }
}

function writeList(to: Writer, values: readonly QueryValue[]): void {
  const list = to.open(6);
  for (const value of values) {
    const item = to.open(1);
    writeScalar(to, value);
    to.close(item);
  }
  to.close(list);
}

function writeScalar(to: Writer, value: QueryValue): void {
  if (value === true) to.bool(4, true);
  else writeByteString(to, 3, value);
}

/** kong_plugin_protocol.Service. Kong writes what the entity has, leaving out numbers that are zero. */
export function writeService(to: Writer, service: Service, createdAt: number): void {
  to.string(1, service.id);
  to.int(2, createdAt);
  to.int(3, createdAt);
  to.string(4, service.name);
  if (service.retries !== 0) to.int(5, service.retries);
  to.string(6, service.tls ? 'https' : 'http');
  to.string(7, service.host);
  to.int(8, service.port);
  if (service.declaredPath !== undefined) to.string(9, service.declaredPath);
  to.int(10, service.connectTimeoutMs);
  to.int(11, service.writeTimeoutMs);
  to.int(12, service.readTimeoutMs);
}

/** kong_plugin_protocol.Route. 426 is Kong's default answer to http on an https-only route. */
export function writeRoute(to: Writer, route: Route, createdAt: number): void {
  to.string(1, route.id);
  to.int(2, createdAt);
  to.int(3, createdAt);
  to.string(4, route.name);
  for (const protocol of route.protocols) to.string(5, protocol);
  for (const method of route.methods ?? []) to.string(6, method);
  for (const path of route.paths) to.string(8, path);
  to.int(10, 426);
  if (route.regexPriority !== 0) to.int(11, route.regexPriority);
  to.bool(12, route.stripPath);
  to.bool(13, route.preserveHost);
  const service = to.open(18);
  to.string(1, route.service.id);
  to.close(service);
}
