import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Reader, type Response } from 'maxmind';
import { formatIpAddress } from '../../../../plugins/core/access/ip-address';
import { classifyAddress } from '../../../kit/upstream/reserved-addresses';
import { readCapped } from '../../../kit/upstream/read-capped';
import { readAsn, readPlace } from '../ip-records';

/** The tables that can be renewed: where addresses are, and who announces them. */
export const TABLES = ['city', 'asn'] as const;
export type TableId = (typeof TABLES)[number];

/** Where `npx tollgate data update` keeps a table, and services look for it. */
export function tablePath(folder: string, id: TableId): string {
  return join(folder, `${id}.mmdb`);
}

/** What was read is not that table. */
export class BadTable extends Error {
  override readonly name = 'BadTable';
}

/** Several times the largest free one. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** For the whole file. */
const DEADLINE_MS = 600_000;
/** Addresses that are looked up, evenly over IPv4. Of those in use a table knows nearly all. */
const SAMPLE = 4_096;
const MIN_KNOWN = SAMPLE / 4;

const unzip = promisify(gunzip);

async function readSource(source: string, deadlineMs: number): Promise<Buffer> {
  if (!/^https?:\/\//.test(source)) return readFile(resolve(source));
  const response = await fetch(source, { signal: AbortSignal.timeout(deadlineMs), headers: { 'user-agent': 'tollgate' } });
  if (response.status !== 200 || !response.body) throw new BadTable(`the server answered ${response.status}`);
  return readCapped(Readable.fromWeb(response.body), MAX_BYTES);
}

function openTable(bytes: Buffer): Reader<Response> {
  try {
    return new Reader<Response>(bytes);
  } catch (cause) {
    throw new BadTable('it is no whole MMDB file', { cause });
  }
}

function isKnown(id: TableId, record: unknown): boolean {
  return id === 'city' ? (readPlace(record)?.country ?? '') !== '' : readAsn(record) !== undefined;
}

/** Looks addresses up all over IPv4: a file that is broken inside, or another table, knows few. @throws BadTable */
function checkTable(id: TableId, reader: Reader<Response>): void {
  if (reader.metadata.ipVersion !== 6) throw new BadTable('it has no IPv6 addresses');
  let known = 0;
  for (let place = 0; place < SAMPLE; place++) {
    const text = formatIpAddress(BigInt(place * (2 ** 32 / SAMPLE) + 1), 32);
    if (classifyAddress(text)?.isReserved !== false) continue;
    try {
      if (isKnown(id, reader.get(text))) known += 1;
    } catch (cause) {
      throw new BadTable('it is broken inside', { cause });
    }
  }
  if (known < MIN_KNOWN) throw new BadTable(`it knows ${known} of ${SAMPLE} addresses: it is no ${id} table`);
}

export interface TableUpdate {
  readonly folder: string;
  /** A file or URL of an MMDB file, also gzipped; `{month}` in it is the present month, as in 2026-11. */
  readonly source: string;
  /** Unix milliseconds. */
  readonly nowMs: number;
  readonly deadlineMs?: number;
}

/**
 * Puts a table in the place of the one before, once it is read whole and knows its addresses. Whatever goes wrong, the one before stays.
 * @returns when its data is from
 * @throws BadTable, or what the file or connection failed with
 */
export async function updateTable(id: TableId, { folder, source, nowMs, deadlineMs = DEADLINE_MS }: TableUpdate): Promise<Date> {
  const month = new Date(nowMs).toISOString().slice(0, 7);
  const read = await readSource(source.replaceAll('{month}', month), deadlineMs);
  const isZipped = read[0] === 0x1f && read[1] === 0x8b;
  const bytes = isZipped ? await unzip(read, { maxOutputLength: MAX_BYTES }) : read;
  const reader = openTable(bytes);
  checkTable(id, reader);
  const path = tablePath(folder, id);
  const draft = `${path}.${randomUUID()}.new`;
  await mkdir(folder, { recursive: true });
  try {
    await writeFile(draft, bytes);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
  return reader.metadata.buildEpoch;
}
