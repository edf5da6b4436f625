import { z } from 'zod';
import { type FailureReason, isSuccess, judgeStatus, parseJson, type PinProvider, unusable, USABLE } from './provider';

const list = z.array(z.object({}));
/** Three spellings of this member are in use. */
const answer = z.object({ postalcodes: list.optional(), postalCodes: list.optional(), postalCode: list.optional() });
const failure = z.object({ status: z.object({ value: z.coerce.number() }) });

/** Error numbers that GeoNames documents for its web services. */
const FAILURES: Readonly<Record<number, FailureReason>> = {
  11: 'no_records',
  15: 'no_records',
  17: 'no_records',
  13: 'timeout',
  18: 'provider_quota',
  19: 'provider_quota',
  20: 'provider_quota',
  22: 'unreachable',
};

/** The value of `X-Upstream-Provider`. */
export const GEONAMES_ORG = 'geonames.org';

/** @param username the seller's GeoNames account, which every call names */
export function createGeonamesProvider(username: string): PinProvider {
  return {
    name: GEONAMES_ORG,
    pathOf(query) {
      const country = query.kind === 'code' ? query.country : 'IN';
      return `/postalCodeLookupJSON?${new URLSearchParams({ postalcode: query.text, country, username }).toString()}`;
    },
    judge(status, body) {
      const json = parseJson(body);
      const failed = failure.safeParse(json);
      // A failure may have any HTTP status, so the body is checked first.
      if (failed.success) return unusable(FAILURES[failed.data.status.value] ?? 'bad_response');
      if (!isSuccess(status)) return judgeStatus(status);
      const parsed = answer.safeParse(json);
      const found = parsed.data?.postalcodes ?? parsed.data?.postalCodes ?? parsed.data?.postalCode;
      if (!found) return unusable('bad_response');
      return found.length > 0 ? USABLE : unusable('no_records');
    },
  };
}
