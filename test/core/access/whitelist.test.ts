import { checkWhitelist, compileWhitelist, normaliseHost, originHostOf, parseWhitelistRule } from '../../../plugins/core/access/whitelist';
import { fc } from '../../support/fast-check';

const admits = (rules: string[], address: string, originHost?: string): boolean =>
  checkWhitelist(compileWhitelist(rules), { address, originHost }).admitted;

describe('whitelist rules', () => {
  const both = ['10.0.0.0/8', 'example.com'];

  it.each<[string, string[], string, string?]>([
    ['everyone when there are none', [], '203.0.113.7'],
    ['a caller whose address matches at least one', both, '10.200.3.4'],
    ['a caller whose origin matches at least one', both, '192.0.2.1', 'example.com'],
    ['a v4-mapped v6 address as the v4 address', ['10.0.0.0/8'], '::ffff:10.1.2.3'],
    ['a v4 address by a v4-mapped v6 network', ['::ffff:10.0.0.0/104'], '10.1.2.3'],
    ['a v4 address by a v4-mapped v6 address', ['::ffff:203.0.113.7'], '203.0.113.7'],
    ['v6 networks to the bit', ['2001:db8::/33'], '2001:db8:7fff::1'],
    ['subdomains by a wildcard', ['*.example.com'], '192.0.2.1', 'a.example.com'],
    ['their subdomains by a wildcard', ['*.example.com'], '192.0.2.1', 'a.b.example.com'],
  ])('admit %s', (_, rules, ...caller) => expect(admits(rules, ...caller)).toBe(true));

  it.each<[string, string[], string, string?]>([
    ['a caller who matches none', both, '192.0.2.1', 'example.org'],
    ['an address beside a network', ['10.0.0.0/8'], '11.0.0.0'],
    ['a v6 address that only looks like the v4 address', ['203.0.113.7'], '::203.0.113.7'],
    ['an address one bit beside a v6 network', ['2001:db8::/33'], '2001:db8:8000::'],
    ['a v4 address by all of v6', ['::/0'], '10.0.0.1'],
    ['the apex of a wildcard', ['*.example.com'], '192.0.2.1', 'example.com'],
    ['a host that ends like a wildcard', ['*.example.com'], '192.0.2.1', 'badexample.com'],
    ['a host that begins like a wildcard’s', ['*.example.com'], '192.0.2.1', 'a.example.com.evil.test'],
  ])('do not admit %s', (_, rules, ...caller) => expect(admits(rules, ...caller)).toBe(false));

  it('are normalised: case, trailing dot, punycode', () => {
    expect(parseWhitelistRule(' Example.COM. ')).toEqual({ ok: true, rule: { kind: 'domain', text: 'example.com' } });
    expect(admits(['bücher.example'], '192.0.2.1', 'xn--bcher-kva.example')).toBe(true);
    expect(normaliseHost('EXAMPLE.com.')).toBe('example.com');
  });

  it.each([
    ['', 'empty'],
    ['10.1.2.3/8', 'did you mean "10.0.0.0/8"'],
    ['10.0.0.0/33', 'not an IP address'],
    ['010.0.0.1', 'not an IP address'],
    ['1.2.3', 'not an IP address'],
    ['fe80::1%eth0', 'not an IP address'],
    ['http://example.com', 'not an IP address, a CIDR network, a host name'],
    ['exa mple.com', 'not an IP address, a CIDR network, a host name'],
    ['*.com.', 'top-level'],
    ['*', 'not an IP address'],
    ['example.com/admin', 'not an IP address, a CIDR network, a host name'],
    ['10.0.0.x/8', 'not an IP address, a CIDR network, a host name'],
    ['example.com?x', 'not an IP address, a CIDR network, a host name'],
    ['example.com#x', 'not an IP address, a CIDR network, a host name'],
    ['ex%61mple.com', 'not an IP address, a CIDR network, a host name'],
    ['exa\tmple.com', 'not an IP address, a CIDR network, a host name'],
    ['0x7f.1', 'not an IP address, a CIDR network, a host name'],
    ['１０.０.０.１', 'not an IP address, a CIDR network, a host name'],
    ['*.0.0.1', 'not an IP address, a CIDR network, a host name'],
  ])('refuse %p with a reason', (text, reason) => {
    const parsed = parseWhitelistRule(text);
    expect(parsed.ok).toBe(false);
    expect(parsed.ok ? '' : parsed.message).toContain(reason);
  });

  it('that cannot be read admit nobody', () => {
    for (const rule of ['???', '10.0.0.0/33', '10.1.2.3/8', '2001:db8::/129', '10.0.0.0/8 a.example']) {
      expect(() => compileWhitelist(['10.0.0.0/8', rule])).toThrow('cannot be read');
    }
  });

  it('agree with a plain bit comparison for any v4 address and network', () => {
    const octet = fc.nat({ max: 255 });
    fc.assert(
      fc.property(fc.tuple(octet, octet, octet, octet), fc.tuple(octet, octet, octet, octet), fc.nat({ max: 32 }), (a, b, length) => {
        const number = (parts: number[]): number => parts.reduce((value, part) => value * 256 + part, 0);
        const size = 2 ** (32 - length);
        const start = Math.floor(number(b) / size) * size;
        const text = [24, 16, 8, 0].map((shift) => Math.floor(start / 2 ** shift) % 256).join('.');
        expect(admits([`${text}/${length}`], a.join('.'))).toBe(number(a) >= start && number(a) < start + size);
      }),
    );
  });
});

describe('the origin host', () => {
  it('is that of Origin, else of Referer, without the port', () => {
    expect(originHostOf('https://App.Example.com:8443', undefined)).toBe('app.example.com');
    expect(originHostOf(undefined, 'https://app.example.com/page?x=1')).toBe('app.example.com');
    expect(originHostOf('https://a.example', 'https://b.example/')).toBe('a.example');
    expect(originHostOf('', 'https://b.example/')).toBe('b.example');
  });

  it.each([['null'], ['app.example.com'], ['file:///x'], ['https://'], ['javascript:alert(1)']])(
    'is unknown for Origin %p, and Referer does not replace it',
    (origin) => {
      expect(originHostOf(origin, 'https://b.example/')).toBeUndefined();
    },
  );

  it.each([
    'https://u:p@a.example/x',
    'HTTPS://A.Example:8443?x#y',
    'https://a.example\\@b.example',
    'https://bücher.example',
    'http://[::1]:80',
  ])('of %p is the one that a URL parser sees', (origin) => {
    expect(originHostOf(origin, undefined)).toBe(normaliseHost(new URL(origin).hostname));
  });

  it('is unknown when it is longer than any host', () => {
    expect(originHostOf(`https://${'a'.repeat(2_600)}`, undefined)).toBeUndefined();
    expect(originHostOf(`https://a.example/${'x'.repeat(8_000)}`, undefined)).toBe('a.example');
  });

  it('is unknown when the header is repeated', () => {
    expect(originHostOf(['https://a.example', 'https://b.example'], undefined)).toBeUndefined();
  });
});
