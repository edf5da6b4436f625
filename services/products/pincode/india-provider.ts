import { z } from 'zod';
import { isSuccess, judgeStatus, parseJson, type PinProvider, unusable, USABLE } from './provider';

const office = z.object({ Name: z.string() });
/** An array of one object. Members vary (`Block` may be missing), so only those that make a response usable are checked. */
const answer = z.tuple([z.object({ Status: z.string(), PostOffice: z.array(office).nullish() })]);
/** `404` is a Status in the body of a 200, not an HTTP status. */
const MISSES = new Set(['Error', '404']);

/** postalpincode.in: PINs and post-office names of India. */
export const indiaProvider: PinProvider = {
  name: 'postalpincode.in',
  pathOf: (query) => `/${query.kind === 'office' ? 'postoffice' : 'pincode'}/${encodeURIComponent(query.text)}`,
  judge(status, body) {
    if (!isSuccess(status)) return judgeStatus(status);
    const parsed = answer.safeParse(parseJson(body));
    if (!parsed.success) return unusable('bad_response');
    const [{ Status, PostOffice }] = parsed.data;
    if (MISSES.has(Status)) return unusable('no_records');
    if (Status !== 'Success') return unusable('bad_response');
    return PostOffice && PostOffice.length > 0 ? USABLE : unusable('no_records');
  },
};
