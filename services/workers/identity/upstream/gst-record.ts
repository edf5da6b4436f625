import { z } from 'zod';
import { badAnswer } from './source-failure';

const gstRecord = z.looseObject({ gstin: z.unknown().optional() });

/**
 * Checks a registration's record, whose text is then passed through. Somebody else's record must not reach the caller, whatever went wrong
 * at the upstream.
 * @param gstin in capitals
 * @returns whether the record names the registration at all
 * @throws ServiceError 502 when it is not a JSON object or names another registration
 */
export function checkGstRecord(payload: unknown, gstin: string): { readonly isNamed: boolean } {
  const parsed = gstRecord.safeParse(payload);
  if (!parsed.success) throw badAnswer('a result has no payload');
  const subject = parsed.data.gstin;
  if (subject === undefined) return { isNamed: false };
  if (typeof subject !== 'string' || subject.toUpperCase() !== gstin) throw badAnswer('the record is not the requested one');
  return { isNamed: true };
}
