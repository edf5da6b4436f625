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

  it('does not serve the image route under the legacy id', async () => {
    expect((await call({ method: 'POST', url: '/image/background_remover' })).statusCode).toBe(404);
  });
});
