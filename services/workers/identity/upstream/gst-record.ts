import { z } from 'zod';
import { badAnswer } from './source-failure';

const gstRecord = z.record(z.string(), z.unknown());

/**
 * A registration's record, passed through as it is. A record of somebody else must not reach the caller, whatever went wrong at the
 * upstream.
 * @param gstin in capitals
 * @throws ServiceError 502 when it is no JSON object or names another registration
 */
export function parseGstRecord(payload: unknown, gstin: string): Readonly<Record<string, unknown>> {
  const parsed = gstRecord.safeParse(payload);
  if (!parsed.success) throw badAnswer('a result has no payload');
  const subject = parsed.data.gstin;
  if (subject === undefined) return parsed.data;
  if (typeof subject !== 'string' || subject.toUpperCase() !== gstin) throw badAnswer('the record is not the one that was asked for');
  return parsed.data;
}
