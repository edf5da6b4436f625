import { type Clock } from '../../../plugins/core/ports';
import { indiaProvider } from '../../../services/products/pincode/india-provider';
import { createPinLookup, type PinLookup, type PinUpstreams } from '../../../services/products/pincode/pin-lookup';
import { ServiceError } from '../../../services/kit/errors';
import { type UpstreamClient, type UpstreamResponse } from '../../../services/kit/upstream/upstream-client';
import { zippopotamProvider } from '../../../services/products/pincode/zippopotam-provider';

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
