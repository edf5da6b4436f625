import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { securityHeaders } from '../../services/dashboard/api/http/security-headers';
import { PLAIN_BRAND } from '../../services/dashboard/api/public/brand';
import { serveWeb } from '../../services/dashboard/api/http/serve-web';
import { startDashboard } from './support/dashboard';

let root: string;
let app: FastifyInstance;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-pages-'));
  mkdirSync(join(root, 'assets'));
  writeFileSync(join(root, 'index.html'), '<!doctype html><title>Tollgate</title>');
  writeFileSync(join(root, 'favicon.svg'), '<svg/>');
  writeFileSync(join(root, 'assets', 'main-abc123.js'), 'export {};');
  app = fastify();
  await serveWeb(app, { root, url: 'http://127.0.0.1:8080', brand: PLAIN_BRAND });
});
afterAll(async () => {
  await app.close();
  rmSync(root, { recursive: true, force: true });
});

const get = (url: string, host = '127.0.0.1:8080') => app.inject({ url, headers: { host } });

describe('the pages', () => {
  it.each(['/keys', '/keys/6ba7b810-9dad-11d1-80b4-00c04fd430c8?tab=rules', '/reset-password?token=x'])(
    'are one page at every address: %s',
    async (path) => {
      const { statusCode, headers, body } = await get(path);
      expect([statusCode, headers['content-type'], headers['cache-control'], body]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-cache',
        expect.stringContaining('Tollgate'),
      ]);
    },
  );

  it('let browsers keep for ever what is named after its content, and nothing else', async () => {
    expect((await get('/assets/main-abc123.js')).headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': expect.stringContaining('javascript'),
    });
    expect((await get('/favicon.svg')).headers['cache-control']).toBe('no-cache');
  });

  it.each(['/assets/main-old.js', '/missing.png', '/assets/..%2f..%2fpackage.json', '/../package.json', '/%00', '/api/nothing'])(
    'are no answer to %s',
    async (path) => {
      const { statusCode, body } = await get(path);
      expect(statusCode).toBeGreaterThanOrEqual(400);
      expect(body).not.toContain('<title>');
    },
  );

  it('are sent on to the one name whose changes are taken, when opened by another name of this machine', async () => {
    const { statusCode, headers } = await get('/keys?x=1', 'localhost:8080');
    expect([statusCode, headers['location']]).toEqual([307, 'http://127.0.0.1:8080/keys?x=1']);
    for (const host of ['localhost:9', 'evil.example', '']) expect((await get('/keys', host)).headers['location']).toBeUndefined();
  });

  it('say that they are not built when they are not', async () => {
    const dashboard = await startDashboard();
    try {
      const answer = await dashboard.ask({ path: '/keys' });
      expect([answer.statusCode, answer.json().code]).toEqual([503, 'service_not_ready']);
    } finally {
      await dashboard.close();
    }
  });
});

describe('every answer', () => {
  it('forbids scripts that are not files of ours, frames, and reading by other sites', async () => {
    const dashboard = await startDashboard();
    try {
      const wanted = securityHeaders('http://dashboard.test');
      const expected = Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name.toLowerCase(), value]));
      const apis = ['/api/keys', '/%61pi/keys', '/api/installation', '/api/auth/get-session', '/api/nothing'];
      for (const path of ['/', '/missing.js', '/%zz', `/api/keys/${'x'.repeat(200)}`, ...apis]) {
        const { headers } = await dashboard.ask({ path });
        expect(headers).toMatchObject(expected);
        if (apis.includes(path)) expect(headers['cache-control']).toBe('no-store');
      }
    } finally {
      await dashboard.close();
    }
    const policy = securityHeaders('https://d.example')['Content-Security-Policy'];
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).not.toContain('unsafe-eval');
  });
});
