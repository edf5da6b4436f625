import { join } from 'node:path';
import { Reader, type Response } from 'maxmind';
import { formatIpAddress } from '../../../../plugins/core/access/ip-address';
import { putFile } from '../../../kit/data-files/put-file';
import { readSource, type SourceOptions } from '../../../kit/data-files/read-source';
import { classifyAddress } from '../../../kit/upstream/reserved-addresses';
import { readAsn, readPlace } from '../ip-records';

/** The tables that can be renewed: `city` locates addresses, `asn` has the networks that announce them. */
export const TABLES = ['city', 'asn'] as const;
export type TableId = (typeof TABLES)[number];

/** The path at which `npx tollgate data update` stores a table and services look for it. */
export function tablePath(folder: string, id: TableId): string {
  return join(folder, `${id}.mmdb`);
}

/** The file is not that table. */
export class BadTable extends Error {
  override readonly name = 'BadTable';
}

/** Number of addresses looked up, spread evenly over IPv4. A table knows nearly all addresses that are in use. */
const SAMPLE = 4_096;
const MIN_KNOWN = SAMPLE / 4;

function openTable(bytes: Buffer): Reader<Response> {
  try {
    return new Reader<Response>(bytes);
  } catch (cause) {
    throw new BadTable('it is not a complete MMDB file', { cause });
  }
}

function isKnown(id: TableId, record: unknown): boolean {
  return id === 'city' ? (readPlace(record)?.country ?? '') !== '' : readAsn(record) !== undefined;
}

/** Looks up addresses all over IPv4: a damaged file, or another table, knows few of them. @throws BadTable */
function checkTable(id: TableId, reader: Reader<Response>): void {
  if (reader.metadata.ipVersion !== 6) throw new BadTable('it has no IPv6 addresses');
  let known = 0;
  for (let place = 0; place < SAMPLE; place++) {
    const text = formatIpAddress(BigInt(place * (2 ** 32 / SAMPLE) + 1), 32);
    if (classifyAddress(text)?.isReserved !== false) continue;
    try {
      if (isKnown(id, reader.get(text))) known += 1;
    } catch (cause) {
      throw new BadTable('it is damaged', { cause });
    }
  }
  if (known < MIN_KNOWN) throw new BadTable(`it knows ${known} of ${SAMPLE} addresses: it is not the table ${id}`);
}

export interface TableUpdate extends SourceOptions {
  readonly folder: string;
  /** An MMDB file or its URL. May be gzipped. */
  readonly source: string;
}

/**
 * Replaces a table after the new one was read completely and knows enough addresses. If anything goes wrong, the previous table stays.
 * @returns the date of its data
 * @throws BadTable, or the file's or connection's error
 */
export async function updateTable(id: TableId, { folder, source, ...options }: TableUpdate): Promise<Date> {
  const { bytes } = await readSource(source, options);
  const reader = openTable(bytes);
  checkTable(id, reader);
  await putFile(tablePath(folder, id), bytes);
  return reader.metadata.buildEpoch;
}
