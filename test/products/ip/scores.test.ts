import { abuseWeight, heuristicRisk, heuristicStaticScore, RISK_WEIGHTS, type RiskSignal } from '../../../services/products/ip/scores';
import { fc } from '../../support/fast-check';
import { addressOf } from './address-of';

function signal(weight: number): RiskSignal {
  return { id: 'hosting', weight, source: 'test' };
}

describe('risk of an address', () => {
  it('is 0 without a signal', () => expect(heuristicRisk([])).toBe(0));

  it.each([
    ['tor_exit', 85],
    ['dnsbl_drop', 95],
    ['dnsbl_pbl', 0],
    ['hosting', 25],
    ['proxy_or_vpn', 50],
  ] as const)('of %s alone is %d', (id, risk) => {
    expect(heuristicRisk([{ id, weight: RISK_WEIGHTS[id], source: 'test' }])).toBe(risk);
  });

  it('combines signals as one minus the product of their complements', () => {
    expect(heuristicRisk([signal(0.6), signal(0.7)])).toBe(88);
    expect(heuristicRisk([signal(0.25), signal(0.5), signal(0.85)])).toBe(94.38);
  });

  it('never exceeds 99', () => expect(heuristicRisk([signal(0.95), signal(0.95), signal(0.85)])).toBe(99));

  it('takes nine tenths of the abuse confidence', () => {
    expect(abuseWeight(100)).toBe(0.9);
    expect(abuseWeight(50)).toBe(0.45);
    expect(abuseWeight(0)).toBe(0);
    expect(abuseWeight(250)).toBe(0.9);
  });

  it('stays within 0 and 99 and never falls when a signal is added', () => {
    const weights = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });
    fc.assert(
      fc.property(weights, fc.double({ min: 0, max: 1, noNaN: true }), (before, added) => {
        const risk = heuristicRisk(before.map(signal));
        const more = heuristicRisk([...before, added].map(signal));
        return risk >= 0 && more <= 99 && more >= risk;
      }),
    );
  });
});

describe('static score of an address', () => {
  const base = { address: addressOf('8.8.8.8'), hostname: null, policyListed: false, hosting: false, cellular: false };

  it.each([
    ['no evidence', {}, 15],
    ['NAT as a word', { hostname: 'nat-7.example' }, 5],
    ['"nat" inside a word', { hostname: 'international.example' }, 15],
    ['hosting and a server name', { hosting: true, hostname: 'server.example' }, 95],
    ['a mobile network, whatever else', { cellular: true, hosting: true, hostname: 'static.example' }, 0.5],
    ['everything that says changing', { policyListed: true, hostname: '8-8-8-8.dyn.example' }, 0],
  ])('with %s', (_what, evidence, score) => {
    expect(heuristicStaticScore({ ...base, ...evidence })).toBe(score);
  });

  it('finds octets in any order and each only once', () => {
    expect(heuristicStaticScore({ ...base, address: addressOf('1.2.3.4'), hostname: '4-3-2-1.example' })).toBe(10);
    expect(heuristicStaticScore({ ...base, address: addressOf('1.1.3.4'), hostname: '1-3-4.example' })).toBe(15);
  });
});
