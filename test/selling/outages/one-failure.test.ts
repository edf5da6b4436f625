import { failureOf } from '../../../services/selling/outages/one-failure';

const at = (minute: number): Date => new Date(Date.UTC(2026, 10, 29, 3, minute));
const outage = (id: string, began: number, ended?: number) => ({
  ...{ id, product: 'api-ip', beganAt: at(began), endedAt: ended === undefined ? null : at(ended) },
});

describe('to readers of mail', () => {
  it.each([
    ['an outage alone', [outage('a', 0, 10)], 'a', { first: 'a', last: 'a', endedAt: at(10) }],
    ['one that goes on', [outage('a', 0)], 'a', { first: 'a', last: 'a', endedAt: null }],
    ['two with a quarter of an hour between them', [outage('a', 0, 10), outage('b', 25, 30)], 'a', { first: 'a', last: 'a' }],
    ['the second of them', [outage('a', 0, 10), outage('b', 25, 30)], 'b', { first: 'b', last: 'b', beganAt: at(25) }],
  ])('%s is one failure', (_what, outages, id, failure) => {
    expect(failureOf(outages, id)).toMatchObject(failure);
  });

  it('a product that begins to fail again and again, each time within a quarter of an hour, fails once', () => {
    const outages = [outage('c', 39, 45), outage('a', 0, 10), outage('b', 24, 25)];
    const failure = { product: 'api-ip', beganAt: at(0), endedAt: at(45), first: 'a', last: 'c' };
    for (const id of ['a', 'b', 'c']) expect(failureOf(outages, id)).toEqual(failure);
    expect(failureOf([...outages, outage('d', 50)], 'a')).toEqual({ ...failure, endedAt: null, last: 'd' });
  });

  it('an outage that is no longer kept is none', () => {
    expect(failureOf([outage('a', 0, 10)], 'b')).toBeUndefined();
  });
});
