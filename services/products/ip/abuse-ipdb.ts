import { z } from 'zod';
import { type IpAddress } from '../../../plugins/core/access/ip-address';
import { type KeyMode } from '../../../plugins/core/ports';
import { type UpstreamClient } from '../../kit/upstream/upstream-client';

/** AbuseIPDB's findings about an address. */
export interface AbuseReport {
  /** `abuseConfidenceScore`, 0 to 100. */
  readonly confidence: number;
  readonly torExit: boolean;
}

/** Older reports say little about today's holder of an address. */
const MAX_AGE_DAYS = 90;

const answer = z.object({ data: z.object({ abuseConfidenceScore: z.number().min(0).max(100), isTor: z.boolean().nullish() }) });

export interface AbuseIpdbOptions {
  readonly client: Pick<UpstreamClient, 'requestJson'>;
  readonly mode: KeyMode;
  readonly apiKey: string;
}

/**
 * Client of AbuseIPDB's check endpoint.
 * @returns a function that rejects for any response but a report; the message never has the address or the key
 */
export function createAbuseIpdb({ client, mode, apiKey }: AbuseIpdbOptions): (address: IpAddress) => Promise<AbuseReport> {
  return async (address) => {
    const { status, data } = await client.requestJson({
      mode,
      path: '/api/v2/check',
      query: { ipAddress: address.text, maxAgeInDays: MAX_AGE_DAYS },
      headers: { Key: apiKey, Accept: 'application/json' },
      // The client's own time-out ends the exchange. There is no retry, because every check counts against the day's quota.
      signal: new AbortController().signal,
      idempotent: false,
    });
    if (status !== 200) throw new Error(`AbuseIPDB responded with ${status}`);
    const parsed = answer.safeParse(data);
    if (!parsed.success) throw new Error('AbuseIPDB sent something other than a report');
    const { abuseConfidenceScore, isTor } = parsed.data.data;
    return { confidence: abuseConfidenceScore, torExit: isTor === true };
  };
}
