import { z } from 'zod';
import { type IpAddress } from '../../../plugins/core/access/ip-address';
import { type KeyMode } from '../../../plugins/core/ports';
import { type UpstreamClient } from '../../kit/upstream/upstream-client';

/** What AbuseIPDB says about an address. */
export interface AbuseReport {
  /** `abuseConfidenceScore`, 0 to 100. */
  readonly confidence: number;
  readonly torExit: boolean;
}

/** Reports older than three months say little about who holds an address today. */
const MAX_AGE_DAYS = 90;

const answer = z.object({ data: z.object({ abuseConfidenceScore: z.number().min(0).max(100), isTor: z.boolean().nullish() }) });

export interface AbuseIpdbOptions {
  readonly client: Pick<UpstreamClient, 'requestJson'>;
  readonly mode: KeyMode;
  readonly apiKey: string;
}

/**
 * AbuseIPDB's check end point.
 * @returns a function that rejects on any answer but a report; the message never holds the address or the key
 */
export function createAbuseIpdb({ client, mode, apiKey }: AbuseIpdbOptions): (address: IpAddress) => Promise<AbuseReport> {
  return async (address) => {
    const { status, data } = await client.requestJson({
      mode,
      path: '/api/v2/check',
      query: { ipAddress: address.text, maxAgeInDays: MAX_AGE_DAYS },
      headers: { Key: apiKey, Accept: 'application/json' },
      // The client's own time-out ends the exchange. No second try: every check counts against the day's quota.
      signal: new AbortController().signal,
      idempotent: false,
    });
    if (status !== 200) throw new Error(`AbuseIPDB answered ${status}`);
    const parsed = answer.safeParse(data);
    if (!parsed.success) throw new Error('AbuseIPDB answered with something else than a report');
    const { abuseConfidenceScore, isTor } = parsed.data.data;
    return { confidence: abuseConfidenceScore, torExit: isTor === true };
  };
}
