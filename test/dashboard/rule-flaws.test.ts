import { findRuleFlaws } from '../../services/dashboard/web/pages/keys/find-rule-flaws';

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
