import { explainDecision } from '../../../services/selling/requests/explain';
import { type Decision } from '../../../plugins/core/ports';
import { listProblems, type DenialCode } from '../../../plugins/core/problems';
import { someDecision } from '../../support/some-decision';

const decision = someDecision({
  keyPlace: 'query',
  maskedKey: 'tg_live…abcd',
  credentialId: 'c1',
  subscriptionId: 's1',
  product: 'api-ip',
  callerAddress: '203.0.113.7',
  matchedRule: '203.0.113.0/24',
  quota: { day: '2026-11-20', usedDaily: 3, usedMonthly: 9, daily: 10, monthly: 30, exceeded: undefined },
});

const DENIALS: DenialCode[] = [
  'request_not_readable',
  'ambiguous_path',
  'key_missing',
  'ambiguous_key',
  'key_unknown',
  'key_inactive',
  'key_expired',
  'product_not_authorised',
  'subscription_missing',
  'subscription_inactive',
  'caller_not_whitelisted',
  'sandbox_missing',
  'quota_daily_exceeded',
  'quota_monthly_exceeded',
  'access_layer_unavailable',
  'quota_unavailable',
];

describe('an explanation', () => {
  it('says of the count of a test key whose it is', () => {
    const saw = (maskedKey: string) => explainDecision({ ...decision, maskedKey }).checks.at(-1)?.saw;
    expect(saw('tg_live…abcd')).toBe('day 2026-11-20: 3 of 10, month: 9 of 30');
    expect(saw('tg_test…abcd')).toBe('of test keys, day 2026-11-20: 3 of 10, month: 9 of 30');
  });

  it('of a daily cap says whose it is, and not that a plan would help', () => {
    const quota = { day: '2026-11-20', usedDaily: 10, usedMonthly: 10, daily: 10, monthly: 30, exceeded: 'daily', isCapped: true } as const;
    const { checks, remedy } = explainDecision({ ...decision, outcome: 'quota_daily_exceeded', quota });
    expect(checks.at(-1)).toMatchObject({ outcome: 'failed', saw: 'day 2026-11-20: 10 of 10 (your own cap), month: 10 of 30' });
    expect(remedy).toMatch(/cap that you set yourself/);
    expect(remedy).not.toContain('plan');
  });

  it('shows every check of an admitted request as passed, with what it saw', () => {
    const { checks, remedy } = explainDecision(decision);
    expect(checks.every((check) => check.outcome === 'passed')).toBe(true);
    expect(checks.map((check) => check.saw).join('\n')).toContain('address 203.0.113.7, origin none, rule 203.0.113.0/24');
    expect(checks.at(-1)?.saw).toBe('day 2026-11-20: 3 of 10, month: 9 of 30');
    expect(remedy).toBe('');
  });

  it.each<[DenialCode, string, string]>([
    ['key_inactive', 'unpaid', 'key c1, suspended by the seller: unpaid'],
    ['key_inactive', '', 'key c1, suspended by the seller'],
    ['subscription_inactive', 'unpaid', 'none that is active, suspended by the seller: unpaid'],
  ])('of %s says that the seller suspended it, why, and that only he can lift it', (outcome, suspended, saw) => {
    const { checks, remedy } = explainDecision({ ...decision, subscriptionId: undefined, outcome, suspended });
    expect(checks.find((check) => check.outcome === 'failed')?.saw).toBe(saw);
    expect(remedy).toContain('seller');
    expect(remedy).not.toMatch(/Resume|Activate/);
  });

  it.each(DENIALS)('of %s has exactly one failed check, none reached after it, and a remedy', (outcome) => {
    const { checks, remedy } = explainDecision({ ...decision, outcome });
    const failed = checks.findIndex((check) => check.outcome === 'failed');
    expect(checks.filter((check) => check.outcome === 'failed')).toHaveLength(1);
    expect(checks.slice(failed + 1).every((check) => check.outcome === 'not reached')).toBe(true);
    expect(remedy).not.toBe('');
    expect(listProblems().some(({ code }) => code === outcome)).toBe(true);
  });

  it.each([
    [
      'caller_not_whitelisted',
      { originHost: 'shop.example.com', matchedRule: undefined },
      /rule for 203\.0\.113\.7 or for shop\.example\.com/,
    ],
    ['caller_not_whitelisted', { matchedRule: undefined }, /rule for 203\.0\.113\.7 to the key/],
    ['product_not_authorised', { product: undefined, products: ['api-glead', 'api-grank'] }, /api-glead or api-grank/],
    ['subscription_missing', {}, /Subscribe to api-ip/],
    ['sandbox_missing', {}, /Use a live key: api-ip has no sandbox/],
  ] as const)('of %s names what is to be changed', (outcome, extra, text) => {
    expect(explainDecision({ ...decision, ...extra, outcome }).remedy).toMatch(text);
  });

  it('tells a key without rules from one whose rules did not match', () => {
    const saw = (outcome: Decision['outcome']): string | undefined =>
      explainDecision({ ...decision, matchedRule: undefined, outcome }).checks.find(({ check }) => check.includes('whitelist'))?.saw;
    expect(saw('admitted')).toBe('address 203.0.113.7, origin none, the key has no rules');
    expect(saw('caller_not_whitelisted')).toBe('address 203.0.113.7, origin none, no rule matched');
  });
});
