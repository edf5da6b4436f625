import { parseCap, parsePercents } from '../../../../services/dashboard/web/customer/alerts/threshold-text';
import { describeDetails } from '../../../../services/dashboard/web/customer/audit/describe-details';
import { formatMoment } from '../../../../services/dashboard/web/parts/format/time';

describe('thresholds and caps as a person writes them', () => {
  it.each([
    ['80, 100', [80, 100]],
    ['100 80;80 %', [80, 100]],
    ['1', [1]],
    ['  ', null],
    [',', undefined],
    ['0', undefined],
    ['101', undefined],
    ['1,2,3,4,5,6', undefined],
    ['8.5', undefined],
    ['eighty', undefined],
  ])('%j reads as %j', (text, percents) => {
    expect(parsePercents(text)).toEqual(percents);
  });

  it.each([
    ['1,000', 1_000],
    ['0', 0],
    ['', null],
    ['2147483647', 2_147_483_647],
    ['2147483648', undefined],
    ['-1', undefined],
    ['1.5', undefined],
  ])('%j is the cap %j', (text, cap) => {
    expect(parseCap(text)).toBe(cap);
  });
});

const words = (details: Record<string, unknown>): string =>
  describeDetails(details, (iso) => formatMoment(iso, 'Asia/Kolkata'))
    .map(({ name, text }) => `${name} ${text}`)
    .join('; ');

describe('a line of the audit log', () => {
  it.each([
    [
      'a changed key, by what differs',
      { before: { name: null, products: ['api-ip'] }, after: { name: 'Till', products: ['api-ip'] } },
      'name none → Till',
    ],
    ['a changed plan', { before: { plan: null, daily: null }, after: { plan: 'Star', daily: null } }, 'plan Free → Star'],
    ['changed rules, without what is empty', { added: ['10.0.0.0/8', '480 more'], removed: [] }, 'added 10.0.0.0/8, 480 more'],
    ['a state that was', { before: 'active' }, 'before active'],
    [
      'a new key, without ids and nulls',
      { customer: '7d9c6f0e', mode: 'live', name: null, expiresAt: '2026-11-21T10:00:00.000Z', products: ['api-ip', 'api-gst'], rules: [] },
      'mode live; expires at 21 Nov 2026, 15:30 IST; products api-ip, api-gst',
    ],
    ['a webhook by its host', { webhook: '7d9c6f0e', host: 'hooks.example.com' }, 'host hooks.example.com'],
    ['nothing', {}, ''],
  ])('says in words: %s', (_what, details, text) => {
    expect(words(details)).toBe(text);
  });

  it('is cut when it is long', () => {
    expect(words({ added: ['x'.repeat(500)] })).toBe(`added ${'x'.repeat(120)}…`);
  });
});
