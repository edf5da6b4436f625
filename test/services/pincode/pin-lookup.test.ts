import { type Clock } from '../../../plugins/core/ports';
import { indiaProvider } from '../../../services/pincode/india-provider';
import { createPinLookup, type PinLookup } from '../../../services/pincode/pin-lookup';
import { ServiceError } from '../../../services/kit/errors';
import { type UpstreamClient, type UpstreamResponse } from '../../../services/kit/upstream/upstream-client';
import { zippopotamProvider } from '../../../services/pincode/zippopotam-provider';

const HOUR_MS = 3_600_000;
const hit = JSON.stringify([{ Message: 'm', Status: 'Success', PostOffice: [{ Name: 'New Delhi ' }] }]);
const miss = JSON.stringify([{ Message: 'No records found', Status: 'Error', PostOffice: null }]);
const pin = { kind: 'pin', text: '110001' } as const;

describe('a postal look-up', () => {
  let nowMs: number;
  let asked: string[];
  let answers: (() => Promise<UpstreamResponse>)[];
  const clock: Clock = { now: () => nowMs, monotonic: () => nowMs };

  function createLookup(): PinLookup {
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
      world: { provider: { live: zippopotamProvider, test: zippopotamProvider }, client },
    };
    return createPinLookup(upstreams, clock);
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

  test('hands over the bytes of the provider', async () => {
    answers = [says(`${hit}  \n`)];
    await expect(createLookup()(pin, 'live')).resolves.toEqual({ ok: true, provider: 'postalpincode.in', body: Buffer.from(`${hit}  \n`) });
    expect(asked).toEqual(['live /pincode/110001']);
  });

  test('asks the world provider for other countries', async () => {
    answers = [says('{}', 404)];
    await expect(createLookup()({ kind: 'code', country: 'US', text: '00404' }, 'live')).resolves.toMatchObject({
      ok: false,
      reason: 'no_records',
    });
    expect(asked).toEqual(['live /us/00404']);
  });

  test('remembers records for a day', async () => {
    answers = [says(hit), says(hit)];
    const lookUp = createLookup();
    await lookUp(pin, 'live');
    nowMs += 24 * HOUR_MS - 1;
    await lookUp(pin, 'live');
    expect(asked).toHaveLength(1);
    nowMs += 2;
    await lookUp(pin, 'live');
    expect(asked).toHaveLength(2);
  });

  test('remembers the absence of records for an hour', async () => {
    answers = [says(miss), says(hit)];
    const lookUp = createLookup();
    await lookUp(pin, 'live');
    nowMs += HOUR_MS - 1;
    await expect(lookUp(pin, 'live')).resolves.toMatchObject({ reason: 'no_records' });
    nowMs += 2;
    await expect(lookUp(pin, 'live')).resolves.toMatchObject({ ok: true });
    expect(asked).toHaveLength(2);
  });

  test.each([
    ['a broken connection', breaks, 'unreachable'],
    ['a time-out', late, 'timeout'],
    ['a bad answer', says('<html></html>'), 'bad_response'],
    ['a used-up quota', says('', 429), 'provider_quota'],
  ])('calls %s by its reason and does not remember it', async (_what, first, reason) => {
    answers = [first, says(hit)];
    const lookUp = createLookup();
    await expect(lookUp(pin, 'live')).resolves.toMatchObject({ ok: false, provider: 'postalpincode.in', reason });
    await expect(lookUp(pin, 'live')).resolves.toMatchObject({ ok: true });
  });

  test('keeps live and sandbox records apart', async () => {
    answers = [says(hit), says(miss)];
    const lookUp = createLookup();
    await expect(lookUp(pin, 'test')).resolves.toMatchObject({ ok: true });
    await expect(lookUp(pin, 'live')).resolves.toMatchObject({ ok: false });
    expect(asked).toEqual(['test /pincode/110001', 'live /pincode/110001']);
  });

  test('asks one question for simultaneous callers', async () => {
    answers = [says(hit)];
    const lookUp = createLookup();
    const both = await Promise.all([lookUp(pin, 'live'), lookUp(pin, 'live')]);
    expect(both.map(({ ok }) => ok)).toEqual([true, true]);
    expect(asked).toHaveLength(1);
  });

  test('keeps names, PINs and codes of countries apart', async () => {
    answers = [says(hit), says(hit), says('{}', 404)];
    const lookUp = createLookup();
    await lookUp(pin, 'live');
    await lookUp({ kind: 'office', text: '110001' }, 'live');
    await lookUp({ kind: 'code', country: 'US', text: '110001' }, 'live');
    expect(asked).toHaveLength(3);
  });
});
