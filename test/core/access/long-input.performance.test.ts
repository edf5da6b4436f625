import { bearerToken } from '../../../plugins/core/access/credential-location';
import { compileWhitelist, originHostOf } from '../../../plugins/core/access/whitelist';

/** What test/parsers does not measure. Work that grows with the square of its input takes minutes for these inputs; work in one go some milliseconds. */
function expectQuick(work: () => void): void {
  const { user, system } = process.cpuUsage();
  work();
  const used = process.cpuUsage({ user, system });
  expect((used.user + used.system) / 1_000).toBeLessThan(1_000);
}

describe('text from strangers', () => {
  it('in the Authorization header is read in one go, however many spaces it holds', () => {
    expectQuick(() => expect(bearerToken(`Bearer${' '.repeat(65_536)}\u2028`)).toBeUndefined());
    expect(bearerToken(`Bearer  k ${' '.repeat(65_536)}`)).toBe('k');
  });

  it('in Origin costs next to nothing when it is longer than any host', () => {
    const long = Array.from({ length: 2_600 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
    expectQuick(() => {
      for (let round = 0; round < 200; round++) expect(originHostOf(`https://${long}`, undefined)).toBeUndefined();
    });
  });
});

describe('a long whitelist', () => {
  /** CPU time in µs. */
  function timeToCompile(rule: (index: string) => string): number {
    const texts = Array.from({ length: 30_000 }, (_, index) => rule(index.toString(16)));
    const { user } = process.cpuUsage();
    compileWhitelist(texts);
    return process.cpuUsage().user - user;
  }

  it('is compiled as quickly when its addresses differ in their upper half alone', () => {
    const spread = timeToCompile((index) => `2001:db8::${index}`);
    const alike = timeToCompile((index) => `2001:db8:${index}::1`);
    expect(alike).toBeLessThan(2 * spread + 200_000);
  });
});
