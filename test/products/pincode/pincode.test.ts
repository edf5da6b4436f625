import { WORLD_COUNTRIES } from '../../../services/products/pincode/settings';
import { parseIndianPin, parseWorldCode } from '../../../services/products/pincode/parse-pin';
import { fc } from '../../support/fast-check';
import { type Clock } from '../../../plugins/core/ports';
import { indiaProvider } from '../../../services/products/pincode/india-provider';
import { createPinLookup, type PinLookup, type PinUpstreams } from '../../../services/products/pincode/pin-lookup';
import { ServiceError } from '../../../services/kit/errors';
import { type UpstreamClient, type UpstreamResponse } from '../../../services/kit/upstream/upstream-client';
import { zippopotamProvider } from '../../../services/products/pincode/zippopotam-provider';
import { createGeonamesProvider } from '../../../services/products/pincode/geonames-provider';
import { type PinProvider } from '../../../services/products/pincode/provider';
import { normalPlaces, normalPlace } from '../../../services/products/pincode/normal-places';

describe('an Indian pin', () => {
  it.each([
    ['110001', '110001'],
    [' 560001 ', '560001'],
  ])('%j is the PIN %s', (pin, text) => expect(parseIndianPin(pin)).toEqual({ ok: true, query: { kind: 'pin', text } }));

  it.each([
    ['Connaught Place', 'Connaught Place'],
    ['नई दिल्ली', 'नई दिल्ली'],
    ['a/../b', 'a/../b'],
  ])('%j is the name of a post office', (pin, text) => {
    expect(parseIndianPin(pin)).toEqual({ ok: true, query: { kind: 'office', text } });
  });

  it.each(['11000', '012345', '11 00 01', '   ', '..', 'x'.repeat(101), 'a\u0000b', '\ud800a'])('%j is refused', (pin) => {
    expect(parseIndianPin(pin).ok).toBe(false);
  });
});

describe('a postal code of another country', () => {
  it.each([
    ['US', '90210', '90210'],
    ['CA', 'K1A 0B1', 'K1A'],
    ['GB', 'SW1A1AA', 'SW1A'],
    ['GB', 'M11AE', 'M1'],
    ['NL', '1012  AB', '1012 AB'],
  ])('of %s: %j is asked as %s', (country, pin, text) => {
    expect(parseWorldCode(country, pin)).toEqual({ ok: true, query: { kind: 'code', country, text } });
  });

  it.each(['..', ' ', 'a/b', '12345678901234567', 'ü123'])('%j is refused', (pin) => {
    expect(parseWorldCode('US', pin).ok).toBe(false);
  });

  it('never yields a path that climbs or a part that is empty', () => {
    fc.assert(
      fc.property(fc.constantFrom(...WORLD_COUNTRIES), fc.string({ maxLength: 20 }), (country, pin) => {
        const parsed = parseWorldCode(country, pin);
        return !parsed.ok || /^[A-Z0-9][A-Z0-9 -]*$|^[ -]*[A-Z0-9]/i.test(parsed.query.text);
      }),
    );
  });
});

const HOUR_MS = 3_600_000;
const hit = JSON.stringify([{ Message: 'm', Status: 'Success', PostOffice: [{ Name: 'New Delhi ' }] }]);
const miss = JSON.stringify([{ Message: 'No records found', Status: 'Error', PostOffice: null }]);
const pin = { kind: 'pin', text: '110001' } as const;
/** Of a caller who wants what the first provider says, or nothing. */
const ALONE = { mode: 'live', mayFallBack: false } as const;

describe('a postal look-up', () => {
  let nowMs: number;
  let asked: string[];
  let answers: (() => Promise<UpstreamResponse>)[];
  const clock: Clock = { now: () => nowMs, monotonic: () => nowMs };

  function createLookup(reserve?: PinUpstreams['reserve']): PinLookup {
    const client: Pick<UpstreamClient, 'request'> = {
      request: async ({ mode, path }) => {
        asked.push(`${mode} ${path}`);
        const next = answers.shift();
        if (!next) throw new Error('asked too often');
        return next();
      },
    };
    const upstreams = {
      india: { provider: { live: indiaProvider, test: indiaProvider }, client },
      world: [{ provider: { live: zippopotamProvider, test: zippopotamProvider }, client }] as const,
    };
    return createPinLookup({ ...upstreams, reserve }, clock);
  }

  const says =
    (body: string, status = 200) =>
    async () => ({ status, headers: {}, bytes: Buffer.from(body) });
  const breaks = async (): Promise<never> => {
    throw new ServiceError('upstream_failed', { cause: new Error('ECONNRESET') });
  };
  const late = async (): Promise<never> => {
    throw new ServiceError('upstream_timeout');
  };

  beforeEach(() => {
    nowMs = 5_000;
    asked = [];
    answers = [];
  });

  it('remembers records for a day', async () => {
    answers = [says(hit), says(hit)];
    const lookUp = createLookup();
    await lookUp(pin, ALONE);
    nowMs += 24 * HOUR_MS - 1;
    await lookUp(pin, ALONE);
    expect(asked).toHaveLength(1);
    nowMs += 2;
    await lookUp(pin, ALONE);
    expect(asked).toHaveLength(2);
  });

  it('remembers the absence of records for an hour', async () => {
    answers = [says(miss), says(hit)];
    const lookUp = createLookup();
    await lookUp(pin, ALONE);
    nowMs += HOUR_MS - 1;
    await expect(lookUp(pin, ALONE)).resolves.toMatchObject({ reason: 'no_records' });
    nowMs += 2;
    await expect(lookUp(pin, ALONE)).resolves.toMatchObject({ ok: true });
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['a broken connection', breaks, 'unreachable'],
    ['a time-out', late, 'timeout'],
    ['a bad answer', says('<html></html>'), 'bad_response'],
    ['a used-up quota', says('', 429), 'provider_quota'],
  ])('calls %s by its reason and does not remember it', async (_what, first, reason) => {
    answers = [first, says(hit)];
    const lookUp = createLookup();
    await expect(lookUp(pin, ALONE)).resolves.toMatchObject({ ok: false, provider: 'postalpincode.in', reason });
    await expect(lookUp(pin, ALONE)).resolves.toMatchObject({ ok: true });
  });

  it('has data in reserve for live keys where the provider fails, and asks the provider again the next time', async () => {
    const reserve = (text: string) => (text === pin.text ? { provider: 'file', body: Buffer.from('kept') } : undefined);
    const lookUp = createLookup(reserve);
    answers = [breaks, says(hit)];
    expect(await lookUp(pin, ALONE)).toEqual({ ok: true, provider: 'file', body: Buffer.from('kept') });
    expect(await lookUp(pin, ALONE)).toMatchObject({ ok: true, provider: 'postalpincode.in' });
    answers = [late, breaks, late, says(miss)];
    expect(await lookUp(pin, { mode: 'test', mayFallBack: false })).toMatchObject({ ok: false, reason: 'timeout' });
    expect(await lookUp({ kind: 'office', text: '110001' }, ALONE)).toMatchObject({ ok: false, reason: 'unreachable' });
    expect(await lookUp({ ...pin, text: '110002' }, ALONE)).toMatchObject({ ok: false, reason: 'timeout' });
    // That there is no record is an answer.
    expect(await createLookup(reserve)(pin, ALONE)).toMatchObject({ ok: false, reason: 'no_records' });
  });

  it('keeps live and sandbox records apart', async () => {
    answers = [says(hit), says(miss)];
    const lookUp = createLookup();
    await expect(lookUp(pin, { mode: 'test', mayFallBack: false })).resolves.toMatchObject({ ok: true });
    await expect(lookUp(pin, ALONE)).resolves.toMatchObject({ ok: false });
    expect(asked).toEqual(['test /pincode/110001', 'live /pincode/110001']);
  });

  it('asks one question for simultaneous callers', async () => {
    answers = [says(hit)];
    const lookUp = createLookup();
    const both = await Promise.all([lookUp(pin, ALONE), lookUp(pin, ALONE)]);
    expect(both.map(({ ok }) => ok)).toEqual([true, true]);
    expect(asked).toHaveLength(1);
  });

  it('keeps names, PINs and codes of countries apart', async () => {
    answers = [says(hit), says(hit), says('{}', 404)];
    const lookUp = createLookup();
    await lookUp(pin, ALONE);
    await lookUp({ kind: 'office', text: '110001' }, ALONE);
    await lookUp({ kind: 'code', country: 'US', text: '110001' }, ALONE);
    expect(asked).toHaveLength(3);
  });

  describe('that may fall back', () => {
    const world = JSON.stringify({ 'post code': '110001', country: 'India', places: [{ 'place name': 'New Delhi' }] });
    const mayFallBack = { mode: 'live', mayFallBack: true } as const;

    it.each<[string, () => Promise<UpstreamResponse>]>([
      ['cannot be reached', breaks],
      ['answers nonsense', says('<html>')],
    ])('asks the next provider where the first one %s, and names who answered', async (_what, fails) => {
      answers = [fails, says(world)];
      expect(await createLookup()(pin, mayFallBack)).toEqual({ ok: true, provider: 'zippopotam.us', body: Buffer.from(world) });
      expect(asked).toEqual(['live /pincode/110001', 'live /in/110001']);
    });

    it('takes the first one at its word that there is no record', async () => {
      answers = [says(miss)];
      expect(await createLookup()(pin, mayFallBack)).toMatchObject({ ok: false, reason: 'no_records', provider: 'postalpincode.in' });
    });

    it('tells the first failure where the next provider has no record or fails too', async () => {
      answers = [late, says('{}', 404), breaks, breaks];
      const lookUp = createLookup();
      expect(await lookUp(pin, mayFallBack)).toMatchObject({ ok: false, reason: 'timeout', provider: 'postalpincode.in' });
      expect(await lookUp({ ...pin, text: '110002' }, mayFallBack)).toMatchObject({ ok: false, reason: 'unreachable' });
    });

    it('asks nobody else for a post office by its name, nor where it may not', async () => {
      answers = [breaks, breaks];
      const lookUp = createLookup();
      expect(await lookUp({ kind: 'office', text: 'Connaught Place' }, mayFallBack)).toMatchObject({ ok: false });
      expect(await lookUp(pin, ALONE)).toMatchObject({ ok: false });
      expect(asked).toHaveLength(2);
    });

    it('never hands what one provider said to callers of another', async () => {
      answers = [breaks, says(world), says(hit)];
      const lookUp = createLookup();
      await lookUp(pin, mayFallBack);
      expect(await lookUp(pin, ALONE)).toMatchObject({ ok: true, provider: 'postalpincode.in' });
    });
  });
});

function judged(provider: PinProvider, status: number, body: unknown): string {
  const verdict = provider.judge(status, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
  return verdict.usable ? 'usable' : verdict.reason;
}

const office = { Name: 'New Delhi ', BranchType: 'Head Post Office', Pincode: '110001' };

describe('the India provider', () => {
  it('asks for PINs and for encoded names', () => {
    expect(indiaProvider.pathOf({ kind: 'pin', text: '110001' })).toBe('/pincode/110001');
    expect(indiaProvider.pathOf({ kind: 'office', text: 'a/../b ?&#' })).toBe('/postoffice/a%2F..%2Fb%20%3F%26%23');
  });

  it.each([
    ['records without a block', 200, [{ Message: 'm', Status: 'Success', PostOffice: [office] }], 'usable'],
    ['no records', 200, [{ Message: 'No records found', Status: 'Error', PostOffice: null }], 'no_records'],
    ['status 404 in a 200', 200, [{ Message: 'm', Status: '404', PostOffice: null }], 'no_records'],
    ['success with an empty list', 200, [{ Message: 'm', Status: 'Success', PostOffice: [] }], 'no_records'],
    ['success without a list', 200, [{ Message: 'm', Status: 'Success', PostOffice: null }], 'no_records'],
    ['an unknown status', 200, [{ Message: 'm', Status: 'Pending', PostOffice: [office] }], 'bad_response'],
    ['an object instead of an array', 200, { Status: 'Success', PostOffice: [office] }, 'bad_response'],
    ['an empty array', 200, [], 'bad_response'],
    ['a web page', 200, '<html></html>', 'bad_response'],
    ['nothing', 200, '', 'bad_response'],
    ['a redirect', 302, '', 'bad_response'],
    ['a 404', 404, '', 'bad_response'],
    ['a 429', 429, '', 'provider_quota'],
    ['a 500', 500, '', 'unreachable'],
    ['a 502', 502, '<h1>Bad Gateway</h1>', 'unreachable'],
    ['a 504', 504, '', 'timeout'],
  ])('judges %s', (_what, status, body, verdict) => expect(judged(indiaProvider, status, body)).toBe(verdict));
});

describe('the zippopotam provider', () => {
  const found = { 'post code': '90210', country: 'United States', places: [{ 'place name': 'Beverly Hills' }] };

  it('asks below the country', () => {
    expect(zippopotamProvider.pathOf({ kind: 'code', country: 'US', text: '90210' })).toBe('/us/90210');
    expect(zippopotamProvider.pathOf({ kind: 'code', country: 'SE', text: '113 51' })).toBe('/se/113%2051');
  });

  it.each([
    ['a place', 200, found, 'usable'],
    ['a 404', 404, {}, 'no_records'],
    ['an empty list', 200, { ...found, places: [] }, 'no_records'],
    ['an empty object', 200, {}, 'bad_response'],
    ['a web page', 200, '<html></html>', 'bad_response'],
    ['a 503', 503, '', 'unreachable'],
    ['a 429', 429, '', 'provider_quota'],
  ])('judges %s', (_what, status, body, verdict) => expect(judged(zippopotamProvider, status, body)).toBe(verdict));
});

describe('the GeoNames provider', () => {
  const geonames = createGeonamesProvider('me & you');

  it('names the account in every question', () => {
    expect(geonames.pathOf({ kind: 'code', country: 'DE', text: '10115' })).toBe(
      '/postalCodeLookupJSON?postalcode=10115&country=DE&username=me+%26+you',
    );
  });

  it.each(['postalcodes', 'postalCodes', 'postalCode'])('reads %s', (member) => {
    expect(judged(geonames, 200, { [member]: [{ postalcode: '10115' }] })).toBe('usable');
    expect(judged(geonames, 200, { [member]: [] })).toBe('no_records');
  });

  it.each([
    [10, 'bad_response'],
    [11, 'no_records'],
    [13, 'timeout'],
    [15, 'no_records'],
    [17, 'no_records'],
    [18, 'provider_quota'],
    [19, 'provider_quota'],
    [20, 'provider_quota'],
    [22, 'unreachable'],
    [99, 'bad_response'],
  ])('judges failure %d', (value, verdict) => {
    expect(judged(geonames, 200, { status: { message: 'm', value } })).toBe(verdict);
    expect(judged(geonames, 401, { status: { message: 'm', value: String(value) } })).toBe(verdict);
  });

  it.each([
    ['an empty object', 200, {}, 'bad_response'],
    ['a web page', 200, '<html></html>', 'bad_response'],
    ['a 500', 500, '', 'unreachable'],
  ])('judges %s', (_what, status, body, verdict) => expect(judged(geonames, status, body)).toBe(verdict));
});

const read = (provider: string, json: unknown) => normalPlaces(provider, Buffer.from(JSON.stringify(json)));

describe('the one form of places', () => {
  it('of an Indian post office tells its kind, whether it delivers, and no coordinates', () => {
    const office = {
      Name: 'New Delhi ',
      BranchType: 'Head Post Office',
      DeliveryStatus: 'Delivery',
      District: 'Central Delhi',
      State: 'Delhi',
      Pincode: '110001',
    };
    const other = { Name: 'X', DeliveryStatus: 'Non-Delivery', District: '', State: null, Block: 7 };
    expect(read(indiaProvider.name, [{ Message: 'm', Status: 'Success', PostOffice: [office, other] }])).toEqual([
      {
        name: 'New Delhi', postal_code: '110001', kind: 'Head Post Office', delivers: true, district: 'Central Delhi', state: 'Delhi',
        state_code: null, latitude: null, longitude: null,
      },
      {
        name: 'X', postal_code: null, kind: null, delivers: false, district: null, state: null,
        state_code: null, latitude: null, longitude: null,
      },
    ]); // prettier-ignore
  });

  it('of other countries has coordinates as numbers, from text and from numbers alike', () => {
    const point = { latitude: 34.0901, longitude: -118.4065 };
    const expected = { name: 'Beverly Hills', postal_code: '90210', state: 'California', state_code: 'CA', ...point };
    const text = { longitude: '-118.4065', latitude: '34.0901' };
    const place = { 'place name': 'Beverly Hills', state: 'California', 'state abbreviation': 'CA', ...text };
    expect(read(zippopotamProvider.name, { 'post code': '90210', country: 'US', places: [place] })).toMatchObject([expected]);
    const state = { adminName1: 'California', adminCode1: 'CA', adminName2: 'Los Angeles' };
    const geonames = { placeName: 'Beverly Hills', postalcode: '90210', ...state, lat: 34.0901, lng: -118.4065 };
    for (const member of ['postalcodes', 'postalCodes', 'postalCode'])
      expect(read(createGeonamesProvider('x').name, { [member]: [geonames] })).toMatchObject([{ ...expected, district: 'Los Angeles' }]);
  });

  it.each(['', 'north', '1e9', null, {}])('has null for coordinates that are none: %j', (latitude) => {
    const place = { 'place name': 'X', latitude, longitude: '7' };
    expect(read(zippopotamProvider.name, { 'post code': '1', country: 'X', places: [place] })).toMatchObject([
      { latitude: null, longitude: 7 },
    ]);
  });

  it('is made of whatever a provider may call an answer', () => {
    const value = fc.oneof(fc.string(), fc.double({ noNaN: true }), fc.constant(null), fc.boolean(), fc.object({ maxDepth: 1 }));
    const office = fc.record({
      Name: fc.string(),
      Pincode: value,
      BranchType: value,
      DeliveryStatus: value,
      District: value,
      State: value,
    });
    const named = { Name: '', Pincode: null, BranchType: null, DeliveryStatus: '__proto__', District: null, State: null };
    fc.assert(
      fc.property(fc.array(office, { minLength: 1, maxLength: 3 }), (offices) => {
        const body = Buffer.from(JSON.stringify([{ Message: 'm', Status: 'Success', PostOffice: offices }]));
        expect(indiaProvider.judge(200, body)).toEqual({ usable: true });
        for (const place of normalPlaces(indiaProvider.name, body)) expect(normalPlace.safeParse(place).success).toBe(true);
      }),
      { examples: [[[named]]] },
    );
  });
});
