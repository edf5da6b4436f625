import { z } from 'zod';
import { isSuccess, judgeStatus, parseJson, type PinProvider, unusable, USABLE } from './provider';

/** Keys have spaces and coordinates are text. */
const answer = z.object({
  'post code': z.string(),
  country: z.string(),
  places: z.array(z.object({ 'place name': z.string() })),
});

/** zippopotam.us: about seventy countries, with data from GeoNames. A country or code that it does not have is a 404. */
export const zippopotamProvider: PinProvider = {
  name: 'zippopotam.us',
  pathOf: (query) => `/${query.kind === 'code' ? query.country.toLowerCase() : 'in'}/${encodeURIComponent(query.text)}`,
  judge(status, body) {
    if (status === 404) return unusable('no_records');
    if (!isSuccess(status)) return judgeStatus(status);
    const parsed = answer.safeParse(parseJson(body));
    if (!parsed.success) return unusable('bad_response');
    return parsed.data.places.length > 0 ? USABLE : unusable('no_records');
  },
};
