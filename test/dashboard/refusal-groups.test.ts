import { groupRefusals } from '../../services/dashboard/web/pages/overview/group-refusals';

const counted = (day: string, product: string, code: string, count: number) => ({ day, product, code, count });
const refusal = (requestId: string, product: string, code: string) => ({
  requestId,
  at: '2026-11-22T10:00:00.000Z',
  code,
  product,
  keyId: null,
  maskedKey: null,
  callerAddress: null,
  originHost: null,
});

describe('refusals on the overview', () => {
  it('are summed over the days by reason and product, the most first, with the latest of each', () => {
    const counts = [
      counted('2026-11-20', 'api-ip', 'key_expired', 2),
      counted('2026-11-21', 'api-ip', 'quota_daily_exceeded', 3),
      counted('2026-11-22', 'api-ip', 'key_expired', 5),
      counted('2026-11-22', 'api-gst', 'key_expired', 1),
    ];
    const newest = [refusal('latest', 'api-ip', 'key_expired'), refusal('older', 'api-ip', 'key_expired')];
    expect(groupRefusals(counts, newest)).toEqual([
      { code: 'key_expired', product: 'api-ip', count: 7, latest: newest[0] },
      { code: 'quota_daily_exceeded', product: 'api-ip', count: 3, latest: undefined },
      { code: 'key_expired', product: 'api-gst', count: 1, latest: undefined },
    ]);
  });
});
