import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { readCapped } from '../upstream/read-capped';

/** Several times the size of today's largest table. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** Milliseconds for the whole file. */
const DEADLINE_MS = 600_000;
/** Earlier dates are ignored: npm gives packed files such a date. */
const FIRST_DATE_MS = Date.UTC(2000, 0, 1);

const unzip = promisify(gunzip);

export interface SourceFile {
  /** Decompressed if the source was gzipped. */
  readonly bytes: Buffer;
  /** Date of the data, as reported by the server or the file system; null if their date says nothing about the data. */
  readonly changedAt: Date | null;
}

export interface SourceOptions {
  /** Unix milliseconds. `{month}` in the source becomes the month of this time, for example 2026-11. */
  readonly nowMs: number;
}

function dateOf(ms: number, nowMs: number): Date | null {
  return ms >= FIRST_DATE_MS && ms <= nowMs ? new Date(ms) : null;
}

/**
 * Reads data from the configured source.
 * @param source a file, or an http or https URL
 * @throws the error of the file or connection
 */
export async function readSource(source: string, { nowMs }: SourceOptions): Promise<SourceFile> {
  const named = source.replaceAll('{month}', new Date(nowMs).toISOString().slice(0, 7));
  const { bytes, changedAt } = /^https?:\/\//.test(named) ? await fetchSource(named, nowMs) : await readLocal(resolve(named), nowMs);
  const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return { bytes: isZipped ? await unzip(bytes, { maxOutputLength: MAX_BYTES }) : bytes, changedAt };
}

async function readLocal(path: string, nowMs: number): Promise<SourceFile> {
  const { mtimeMs } = await stat(path);
  return { bytes: await readFile(path), changedAt: dateOf(mtimeMs, nowMs) };
}

async function fetchSource(url: string, nowMs: number): Promise<SourceFile> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DEADLINE_MS), headers: { 'user-agent': 'tollgate' } });
  if (response.status !== 200 || !response.body) throw new Error(`the server responded with ${response.status}`);
  const bytes = await readCapped(Readable.fromWeb(response.body), MAX_BYTES);
  return { bytes, changedAt: dateOf(Date.parse(response.headers.get('last-modified') ?? ''), nowMs) };
}
