import { type Decision } from '../../plugins/core/ports';
import { proposeFixes } from '../../services/dashboard/api/requests/propose-fixes';
import { someDecision } from '../support/some-decision';

const refused = (outcome: Decision['outcome'], over: Partial<Decision> = {}): Decision =>
  someDecision({
    outcome,
    keyPlace: 'x-api-key',
    maskedKey: 'tg_live…1a2B',
    credentialId: 'key',
    customerId: 'customer',
    product: 'api-ip',
    callerAddress: '203.0.113.7',
    ...over,
  });

describe('what is offered against a refusal', () => {
  it('is a rule for the caller’s address; from a page, for its host first', () => {
    expect(proposeFixes(refused('caller_not_whitelisted'))).toEqual([{ kind: 'add_rule', rule: '203.0.113.7' }]);
    expect(proposeFixes(refused('caller_not_whitelisted', { originHost: 'shop.example.com' }))).toEqual([
      { kind: 'add_rule', rule: 'shop.example.com' },
      { kind: 'add_rule', rule: '203.0.113.7' },
    ]);
  });

  it.each([
    ['key_inactive', 'activate_key'],
    ['key_expired', 'open_key'],
    ['product_not_authorised', 'open_key'],
    ['subscription_missing', 'open_plans'],
    ['quota_daily_exceeded', 'open_plans'],
  ] as const)('leads on from %s', (outcome, kind) => {
    expect(proposeFixes(refused(outcome))).toEqual([{ kind }]);
  });

  it('is nothing for what the provider suspended, for a key that nobody has, and for a request that must change itself', () => {
    expect(proposeFixes(refused('key_inactive', { suspended: 'unpaid' }))).toEqual([]);
    expect(proposeFixes(refused('key_unknown', { credentialId: undefined }))).toEqual([]);
    expect(proposeFixes(refused('ambiguous_key'))).toEqual([]);
    expect(proposeFixes(refused('admitted'))).toEqual([]);
  });
});
