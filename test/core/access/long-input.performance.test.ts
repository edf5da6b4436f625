import { bearerToken } from '../../../plugins/core/access/credential-location';
import { readFormField } from '../../../plugins/core/access/form-body';
import { readParameter, removeParameter } from '../../../plugins/core/access/raw-parameters';
import { originHostOf } from '../../../plugins/core/access/whitelist';
import { compileWhitelist } from '../../support/compile-whitelist';

/** Work that grows with the square of its input takes minutes for these inputs; work in one go some milliseconds. */
function expectQuick(work: () => void): void {
  const { user, system } = process.cpuUsage();
  work();
  const used = process.cpuUsage({ user, system });
  expect((used.user + used.system) / 1_000).toBeLessThan(1_000);
}

describe('text from strangers', () => {
  const kibibyte = 1024;

  it('in the Authorization header is read in one go, however many spaces it holds', () => {
    expectQuick(() => expect(bearerToken(`Bearer${' '.repeat(64 * kibibyte)}\u2028`)).toBeUndefined());
    expect(bearerToken(`Bearer  k ${' '.repeat(64 * kibibyte)}`)).toBe('k');
  });

  it('in a query or a form is searched in one go, however malformed its escapes are', () => {
    for (const piece of ['%&', '%aaaaaa&', 'api_key=%&', '%61pi_ke%&', '&']) {
      const raw = `${piece.repeat(Math.floor((1024 * kibibyte) / piece.length))}%`;
      expectQuick(() => readParameter(raw, 'api_key'));
      expectQuick(() => removeParameter(raw, 'api_key'));
    }
  });

  it('in a multipart form is searched in one go, also when it holds nothing but delimiters', () => {
    const body = Buffer.from('\r\n--B'.repeat(200 * kibibyte));
    expectQuick(() => expect(readFormField('multipart/form-data; boundary=B', body, 'api_key').values).toEqual([]));
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
