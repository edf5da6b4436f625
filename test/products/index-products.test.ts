import { backgroundRemoverService } from '../../services/products/background-remover/routes';
import { vahaanService } from '../../services/products/vahaan/routes';
import { createHarness } from '../kit/harness';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

describe('vahaan', () => {
  const { call } = createHarness(vahaanService, { deps: undefined });

  it.each(METHODS)('answers its index to %s', async (method) => {
    const answer = await call({ method, url: '/vahaan' });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      status: 'success',
      product: 'api-vahaan',
      endpoints: [{ method: 'ANY', path: '/vahaan', purpose: 'Index' }],
      timestamp: '2026-03-14 09:26:53',
    });
  });
});

describe('background-remover', () => {
  const { call } = createHarness(backgroundRemoverService, { deps: undefined });

  it('names the working route in the body and in Link, and does not redirect', async () => {
    for (const method of METHODS) {
      const answer = await call({ method, url: '/background_remover' });
      expect(answer.statusCode).toBe(200);
      expect(answer.headers.link).toBe('</image/background_remover>; rel="successor-version"');
      expect(answer.headers.location).toBeUndefined();
      expect(answer.json()).toMatchObject({ status: 'success', product: 'api-background-remover', successor: '/image/background_remover' });
    }
  });

  it('says since when it should not be used, and from when on it may be gone', async () => {
    const { headers } = await call({ method: 'GET', url: '/background_remover' });
    // Structured Field date (RFC 9745), and HTTP date (RFC 8594).
    expect(headers['deprecation']).toBe('@1795132800');
    expect(headers['sunset']).toBe('Sat, 20 Nov 2027 00:00:00 GMT');
    expect(Number(headers['deprecation']?.toString().slice(1)) * 1000).toBeLessThan(Date.parse(String(headers['sunset'])));
  });

  it('describes each header that it sends', async () => {
    const { headers } = await call({ method: 'GET', url: '/background_remover' });
    const described = backgroundRemoverService.routes[0]?.headers?.[200] ?? {};
    expect(Object.keys(described)).toEqual(['Link', 'Deprecation', 'Sunset']);
    for (const name of Object.keys(described)) expect(headers[name.toLowerCase()]).toEqual(expect.any(String));
  });

  it('does not serve the image route under the legacy id', async () => {
    expect((await call({ method: 'POST', url: '/image/background_remover' })).statusCode).toBe(404);
  });
});
