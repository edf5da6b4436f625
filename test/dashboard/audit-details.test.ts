import { describeDetails } from '../../services/dashboard/web/pages/audit/describe-details';
import { formatMoment } from '../../services/dashboard/web/format/time';

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
    ['a changed plan', { before: { plan: null, daily: null }, after: { plan: 'Star', daily: null } }, 'plan Base → Star'],
    ['changed rules, without what is empty', { added: ['10.0.0.0/8', '480 more'], removed: [] }, 'added 10.0.0.0/8, 480 more'],
    ['a state that was', { before: 'active' }, 'before active'],
    [
      'a new key, without ids and nulls',
      { customer: '7d9c6f0e', mode: 'live', name: null, expiresAt: '2026-11-21T10:00:00.000Z', products: ['api-ip', 'api-gst'], rules: [] },
      'mode live; expires at 21 Nov 2026, 15:30; products api-ip, api-gst',
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
