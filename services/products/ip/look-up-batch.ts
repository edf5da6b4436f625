import pLimit from 'p-limit';
import { z } from 'zod';
import { parseIpAddress } from '../../../plugins/core/access/ip-address';
import { ipAnswer } from './ip-answer';
import { lookUpAddress, type LookUpDeps } from './look-up-address';

export const MAX_ADDRESSES = 100;
/** The longest address has 45 characters. A longer text is not an address, and is not repeated in full. */
const MAX_ECHO = 64;
/** Look-ups that run at once. A batch must not take all sockets to the name servers. */
const AT_ONCE = 25;

/** A list, or a text separated by commas or spaces, as a form sends it. */
export const batchInput = z.object({
  ips: z
    .union([z.array(z.string()), z.string()])
    .transform((given) => (typeof given === 'string' ? given.split(/[\s,]+/).filter((each) => each !== '') : given))
    .pipe(z.array(z.string()).min(1).max(MAX_ADDRESSES))
    .describe('Up to 100 addresses: a list, or a text with commas or spaces between them.'),
});

const noAddress = z.object({
  ip: z.string().describe('As sent, at most 64 characters.'),
  is_valid: z.literal(false).describe('This entry is not an address.'),
});

export const batchAnswer = z.object({
  results: z
    .array(z.union([ipAnswer, noAddress]))
    .describe('One for each entry of `ips`, in the same order: the result of `GET /ip`, or only `ip` and `is_valid: false`.'),
});

type Result = z.output<typeof batchAnswer>['results'][number];

/** Looks up each entry on its own, so that an invalid entry does not affect the others. */
export async function lookUpBatch(ips: readonly string[], deps: LookUpDeps): Promise<Result[]> {
  const limit = pLimit(AT_ONCE);
  return Promise.all(
    ips.map(async (text): Promise<Result> => {
      const address = parseIpAddress(text.trim());
      if (!address) return { ip: text.slice(0, MAX_ECHO), is_valid: false };
      return limit(() => lookUpAddress(address, deps));
    }),
  );
}
