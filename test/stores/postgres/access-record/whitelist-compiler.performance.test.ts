import { simulateCaller } from '../../../../services/dashboard/customer/keys/simulate-caller';
import { WhitelistCompiler } from '../../../../plugins/stores/postgres/access-record/whitelist-compiler';
import { turnsDuring } from '../../../support/turns-during';

const RULES = 10_000;
const KINDS: readonly [string, (index: number) => string][] = [
  ['v4 networks', (index) => `10.${index >> 8}.${index & 255}.0/24`],
  ['v6 networks', (index) => `2001:db8:${index.toString(16)}::/48`],
  ['hosts', (index) => `shop-${index}.example.com`],
];

function expectShort(turns: readonly number[]): void {
  // Of a hundred turns one may be the garbage collector's, whose threads count as well.
  const usual = turns[Math.floor(turns.length * 0.9)] ?? Infinity;
  console.log(`${turns.length} turns; 90% below ${usual.toFixed(1)} ms, the longest ${turns.at(-1)?.toFixed(1)} ms`);
  expect(turns.length).toBeGreaterThan(5);
  expect(usual).toBeLessThan(5);
}

describe('a key with 10,000 rules', () => {
  it.each(KINDS)('holds the event loop for 5 ms at most at a time: %s', async (_, rule) => {
    const text = Array.from({ length: RULES }, (_each, index) => rule(index)).join(' ');
    expectShort(await turnsDuring(() => new WhitelistCompiler().compile(text, RULES)));
  });

  it.each(KINDS)('holds the dashboard no longer when its rules are tried out: %s', async (_, rule) => {
    const rules = Array.from({ length: RULES }, (_each, index) => rule(index));
    const simulate = (): Promise<unknown> => simulateCaller({ rules, state: 'active' }, { address: '192.0.2.1' });
    expectShort(await turnsDuring(simulate));
  });
});
