import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { putFile } from '../../../kit/data-files/put-file';
import { BadList } from './read-networks';

/** The first line of a kept list. */
const headSchema = z.object({
  /** RFC 3339: the date of the data according to its maker, or the time when it was fetched. */
  asOf: z.iso.datetime(),
  /** Number of networks that follow. */
  count: z.number().int().min(1),
  /** Digest of the lines that follow. */
  sha256: z.string(),
});

export interface KeptList {
  readonly asOf: Date;
  /** `address/prefix`, one a line. */
  readonly networks: readonly string[];
}

const MARK = '# tollgate address list ';

export function listPath(folder: string, id: string): string {
  return join(folder, `${id}.txt`);
}

const digestOf = (lines: string | Buffer): string => createHash('sha256').update(lines).digest('hex');

/** Replaces the list in one step: a reader sees the whole old list or the whole new one. */
export async function writeList(path: string, { asOf, networks }: KeptList): Promise<void> {
  const lines = networks.join('\n');
  const head = { asOf: asOf.toISOString(), count: networks.length, sha256: digestOf(lines) };
  await putFile(path, `${MARK}${JSON.stringify(head)}\n${lines}`);
}

/** @throws BadList when the file is not a complete file of {@link writeList} */
export function parseListFile(bytes: Buffer): KeptList {
  const end = bytes.indexOf('\n');
  // A list is ASCII, and latin1 is read several times as fast. Any other character would fail the digest or the parsing of a network.
  const lines = bytes.subarray(end + 1);
  const head = headSchema.safeParse(readHead(bytes.toString('utf8', 0, Math.max(0, end))));
  const networks = lines.toString('latin1').split('\n');
  if (!head.success || head.data.count !== networks.length || head.data.sha256 !== digestOf(lines)) {
    throw new BadList('it is not a complete list written by npx tollgate data update');
  }
  return { asOf: new Date(head.data.asOf), networks };
}

function readHead(line: string): unknown {
  try {
    return line.startsWith(MARK) ? JSON.parse(line.slice(MARK.length)) : undefined;
  } catch {
    return undefined;
  }
}
