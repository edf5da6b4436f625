import { z } from 'zod';
import { type KeyMode } from '../../../../plugins/core/ports';
import { askJson, type JsonClient } from './ask-json';
import { type Pacer } from './pacer';
import { type SourceResult } from './source-log';

export const TRANCO = 'tranco';

const answer = z.object({ ranks: z.array(z.object({ date: z.string(), rank: z.number().int().positive() })) });

/** A domain's latest rank in the Tranco list, or null when none of the last thirty lists has it. */
export interface Tranco {
  find(domain: string, signal: AbortSignal): Promise<SourceResult<number | null>>;
}

export interface TrancoOptions {
  readonly client: JsonClient;
  readonly mode: KeyMode;
  readonly pace: Pacer;
}

export function createTranco({ client, mode, pace }: TrancoOptions): Tranco {
  return {
    find: async (domain, signal) => {
      await pace(signal);
      const { ranks } = await askJson(client, { mode, path: `/api/ranks/domain/${encodeURIComponent(domain)}`, signal }, answer);
      const latest = ranks.reduce<(typeof ranks)[number] | undefined>(
        (best, each) => (best && best.date >= each.date ? best : each),
        undefined,
      );
      return { value: latest?.rank ?? null, asOf: latest?.date };
    },
  };
}
