import { Readable } from 'node:stream';
import { readCapped } from '../../../kit/upstream/read-capped';
import { type ListDefinition } from './list-definitions';
import { listPath, writeList } from './list-file';
import { BadList, readNetworks } from './read-networks';

/** Twice the size of today's largest list. */
const MAX_BYTES = 48 * 1024 * 1024;
/** Milliseconds for one file, however slowly it arrives. */
const DEADLINE_MS = 60_000;

export interface UpdateOptions {
  readonly folder: string;
  /** Base URL of a mirror that has each file under the last two parts of its path (`vpn/ipv4.txt`). Absent: the makers' own addresses. */
  readonly mirror?: string | undefined;
  /** Unix milliseconds. */
  readonly nowMs: number;
  readonly deadlineMs?: number;
}

export interface UpdatedList {
  readonly count: number;
  readonly asOf: Date;
}

/** The address from which a file is fetched. */
function sourceUrl(url: string, mirror: string | undefined): string {
  return mirror === undefined
    ? url
    : `${mirror.replace(/\/$/, '')}/${new URL(url).pathname.split('/').slice(-2).filter(Boolean).join('/')}`;
}

/** The maker's date, if it is valid and not in the future. */
function dateOf(header: string | null, nowMs: number): number {
  const dated = Date.parse(header ?? '');
  return Number.isNaN(dated) || dated > nowMs ? nowMs : dated;
}

/** One file of a list, from its maker or the mirror, bounded in size and time. @throws BadList, or the connection's error */
export async function fetchText(address: string, options: UpdateOptions): Promise<{ text: string; asOfMs: number }> {
  const { nowMs, mirror, deadlineMs = DEADLINE_MS } = options;
  const url = sourceUrl(address, mirror);
  // No redirect is followed, so that only the table's own address is fetched.
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(deadlineMs), headers: { 'user-agent': 'tollgate' } });
  if (response.status !== 200 || !response.body) throw new BadList(`the server responded with ${response.status}`);
  const bytes = await readCapped(Readable.fromWeb(response.body), MAX_BYTES);
  return { text: bytes.toString('utf8'), asOfMs: dateOf(response.headers.get('last-modified'), nowMs) };
}

/**
 * Fetches a list and replaces the previous version. If anything goes wrong, the previous version stays.
 * @throws BadList, or the connection's error
 */
export async function updateList(definition: ListDefinition, options: UpdateOptions): Promise<UpdatedList> {
  const networks = new Set<string>();
  let asOfMs = options.nowMs;
  for (const url of definition.urls) {
    const file = await fetchText(url, options);
    for (const network of readNetworks(file.text, definition.format)) networks.add(network);
    asOfMs = Math.min(asOfMs, file.asOfMs);
  }
  if (networks.size < definition.least) throw new BadList(`it has ${networks.size} networks, but never had fewer than ${definition.least}`);
  const asOf = new Date(asOfMs);
  await writeList(listPath(options.folder, definition.id), { asOf, networks: [...networks] });
  return { count: networks.size, asOf };
}
