import { z } from 'zod';
import { type KeyMode } from '../../../plugins/core/ports';
import { sourceName } from '../../kit/upstream/source-name';
import { type UpstreamClient } from '../../kit/upstream/upstream-client';
import { type reputationAnswer } from './schema';

export type Reputation = z.output<typeof reputationAnswer>;

/** @param sha256 64 hexadecimal digits; nothing else about the file is sent out. Never rejects for a failure of VirusTotal. */
export type FindReputation = (sha256: string, signal: AbortSignal) => Promise<Reputation>;

const count = z.number().int().nonnegative();

/** The used part of VirusTotal's file object (API v3). Engines that do not read the type, failed or timed out have no verdict. */
const fileObject = z.object({
  data: z.object({
    attributes: z.object({
      last_analysis_date: z.number().int().positive().optional(),
      last_analysis_stats: z.object({ malicious: count, suspicious: count, harmless: count, undetected: count }),
    }),
  }),
});

const UNASKED = { known: null, malicious: null, suspicious: null, engines: null, as_of: null };

function readFileObject(data: unknown): Omit<Reputation, 'source'> {
  const { last_analysis_date: analysedAt, last_analysis_stats: stats } = fileObject.parse(data).data.attributes;
  const { malicious, suspicious, harmless, undetected } = stats;
  return {
    ok: true,
    known: true,
    malicious,
    suspicious,
    engines: malicious + suspicious + harmless + undetected,
    as_of: analysedAt === undefined ? null : new Date(analysedAt * 1000).toISOString(),
  };
}

export interface VirusTotalOptions {
  readonly client: Pick<UpstreamClient, 'requestJson'>;
  readonly mode: KeyMode;
  readonly apiKey: string;
  /** Called for a response that cannot be used. The message has neither hash nor key. */
  readonly onFailure: (error: unknown) => void;
}

/** Asks VirusTotal about a file by its hash. There is no retry, because each call counts against the key's quota. */
export function createVirusTotal({ client, mode, apiKey, onFailure }: VirusTotalOptions): FindReputation {
  const source = sourceName('virustotal', mode);
  return async (sha256, signal) => {
    try {
      const { status, data } = await client.requestJson({
        mode,
        path: `/api/v3/files/${sha256}`,
        headers: { 'x-apikey': apiKey, accept: 'application/json' },
        signal,
        idempotent: false,
      });
      if (status === 404) return { source, ok: true, ...UNASKED, known: false };
      if (status !== 200) throw new Error(`VirusTotal responded with ${status}`);
      return { source, ...readFileObject(data) };
    } catch (error) {
      signal.throwIfAborted();
      onFailure(error);
      return { source, ok: false, ...UNASKED };
    }
  };
}
