import { readSettings } from '../../../../plugins/core/settings';
import { type AlertView } from '../../../../services/selling/webhooks/alert-view';
import { alertMail } from '../../../../services/dashboard/customer/alerts/alert-mails';
import { alertText } from '../../../../services/dashboard/customer/alerts/alert-text';
import { alertSettings } from '../../../../services/dashboard/customer/start-alerts';
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

describe('the sentence of an alert', () => {
  const timeZone = 'Asia/Kolkata';
  const use = { percent: 80, used: 8_000, limit: 10_000, isIncluded: false, period: '2026-11-20' };
  const ofNoKey = { keyId: null, maskedKey: null, keyName: null, expiresAt: null };
  const of = { subscriptionId: 's1', product: 'api-ip', productTitle: 'IP lookup', countsUnits: false };
  const alert: AlertView = {
    id: 'a1',
    at: new Date('2026-11-20T11:10:00Z'),
    kind: 'quota_daily',
    ...of,
    ...use,
    ...ofNoKey,
    readAt: null,
    isOver: false,
  };

  it.each([
    [{}, /reached 80% of its daily limit: 8,000 of 10,000 requests on 20 November 2026\.$/],
    [{ countsUnits: true }, /reached 80% of its daily limit: 8,000 of 10,000 units on 20 November 2026\.$/],
    [
      { percent: 100, kind: 'quota_monthly', period: '2026-11-01' },
      /reached its monthly limit: .* in November 2026\. Further requests are refused/,
    ],
    [{ isIncluded: true }, /^IP lookup used 80% of what its price includes a day: 8,000 of 10,000 requests on 20 November 2026\.$/],
    [
      { kind: 'key_expiry', maskedKey: 'tg_live…abcd', keyName: 'shop', expiresAt: new Date('2026-11-27T04:30:00Z') },
      /^Key tg_live…abcd \(shop\) expires on 27 November 2026, 10:00 IST\.$/,
    ],
  ] as const)('%j names figures, period and zone', (extra, text) => {
    expect(alertText({ ...alert, ...extra }, timeZone)).toMatch(text);
  });

  it('is in the mail; of the shares of one window only the highest', () => {
    const to = 'asha@example.com';
    const url = 'https://dashboard.example.com';
    const [at80, at100] = [alert, { ...alert, id: 'a2', percent: 100, used: 10_000 }];
    expect(alertMail({ to, url, timeZone, alerts: [at80] }).subject).toBe('IP lookup reached 80% of its daily limit');
    const both = alertMail({ to, url, timeZone, alerts: [at80, at100] });
    expect(both).toEqual({
      to,
      subject: 'IP lookup reached its daily limit',
      text: expect.stringMatching(/^IP lookup reached its daily limit: 10,000 of 10,000[^]*https:\/\/dashboard\.example\.com\/alerts\n$/),
    });
    expect(both.text).not.toContain('80%');
    const expiry = { ...alert, id: 'a3', kind: 'key_expiry' as const, percent: null, maskedKey: 'tg_live…abcd', expiresAt: alert.at };
    const three = alertMail({ to, url, timeZone, alerts: [at100, { ...at80, kind: 'quota_monthly', period: '2026-11-01' }, expiry] });
    expect(three.subject).toBe('3 alerts from Tollgate');
    expect(three.text).toMatch(/daily[^]*monthly[^]*tg_live…abcd/);
  });
});

describe('pauses before a webhook is tried again', () => {
  const pausesOf = (env: Record<string, string>) => readSettings({ alerts: alertSettings }, env).alerts.DASHBOARD_WEBHOOKS_RETRY_SECONDS;

  it('are 30 s, 2 min, 10 min, 1 h and 6 h unless told otherwise', () => {
    expect(pausesOf({})).toEqual([30, 120, 600, 3_600, 21_600]);
  });

  it.each(['soon', '30,-1', '30;60', '9999999'])('refuses %j as pauses', (text) => {
    expect(() => pausesOf({ DASHBOARD_WEBHOOKS_RETRY_SECONDS: text })).toThrow('DASHBOARD_WEBHOOKS_RETRY_SECONDS');
  });
});
