import { findRuleFlaws } from '../../../../services/dashboard/web/customer/keys/find-rule-flaws';
import { simulateCaller } from '../../../../services/dashboard/customer/keys/simulate-caller';

describe('the warning beside whitelist rules', () => {
  it.each([
    ['every IPv4 address', ['0.0.0.0/0'], '0.0.0.0/0 matches every address'],
    ['every IPv6 address', ['::/0', '203.0.113.7'], '::/0 matches every address'],
    ['a domain beside addresses', ['203.0.113.0/24', '*.example.com'], 'Origin of *.example.com'],
    ['a domain beside an IPv6 address', ['2001:db8::1', 'app.example.com'], 'Origin of app.example.com'],
  ])('is given for %s', (_what, rules, text) => {
    expect(findRuleFlaws(rules)).toEqual([expect.stringContaining(text)]);
  });

  it.each([
    ['no rules', []],
    ['addresses', ['203.0.113.7', '10.0.0.0/8', '2001:db8::/32']],
    ['domains', ['example.com', '*.example.com']],
  ])('is not given for %s alone', (_what, rules) => {
    expect(findRuleFlaws(rules)).toEqual([]);
  });
});

const active = (rules: readonly string[]) => ({ rules, state: 'active' }) as const;
const RULES = active(['10.0.0.0/8', '*.example.com', '2001:db8::/32', '203.0.113.7']);

describe('the whitelist simulator', () => {
  it.each([
    ['an address in a range', { address: '10.9.8.7' }, '10.0.0.0/8'],
    ['a single address', { address: '203.0.113.7' }, '203.0.113.7'],
    ['an IPv4 address written as IPv6', { address: '::ffff:10.1.1.1' }, '10.0.0.0/8'],
    ['an IPv6 address', { address: '2001:db8::1' }, '2001:db8::/32'],
    ['an origin', { origin: 'https://app.example.com' }, '*.example.com'],
    ['an origin without a scheme', { origin: 'APP.example.com.' }, '*.example.com'],
    ['an origin beside an address that no rule has', { address: '192.0.2.1', origin: 'https://app.example.com:8443' }, '*.example.com'],
  ])('lets in %s, and says by which rule', (_what, caller, rule) => {
    expect(simulateCaller(RULES, caller)).toEqual({ admitted: true, rule, reason: expect.stringContaining(rule) });
  });

  it.each([
    ['an address outside', { address: '11.0.0.1' }],
    ['the apex of a wildcard', { origin: 'https://example.com' }],
    ['the origin "null"', { origin: 'null' }],
    ['nobody in particular', {}],
  ])('keeps out %s', (_what, caller) => {
    expect(simulateCaller(RULES, caller)).toEqual({
      admitted: false,
      rule: null,
      reason: expect.stringMatching(/^None of the 4 rules/),
    });
  });

  it('lets everybody in without rules', () => {
    expect(simulateCaller(active([]), { address: '192.0.2.1' })).toMatchObject({ admitted: true, rule: null });
  });

  it.each(['revoked', 'inactive', 'expired'] as const)('lets nobody in with a key that is %s, whatever its rules say', (state) => {
    const answer = simulateCaller({ rules: [], state }, { address: '192.0.2.1' });
    expect(answer).toEqual({ admitted: false, rule: null, reason: expect.stringContaining(state) });
  });

  it.each([
    ['an address', { address: '300.1.1.1' }],
    ['an origin', { origin: 'https://' }],
    ['a rule', {}],
  ])('refuses %s that is none', (what, caller) => {
    expect(() => simulateCaller(what === 'a rule' ? active(['10.0.0.1/8']) : RULES, caller)).toThrow();
  });
});
