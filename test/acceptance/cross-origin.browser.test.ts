import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Browser, type Page } from 'playwright-core';
import { openPage, startBrowser } from '../dashboard/support/browser';
import { openInstallation, type Installation } from './installation';

let tollgate: Installation;
let browser: Browser;
let site: Server;
let named: Page;
let stranger: Page;

/** One site under two names: for a browser they are two origins. */
beforeAll(async () => {
  tollgate = await openInstallation();
  site = createServer((_request, response) => response.setHeader('Content-Type', 'text/html').end('<title>A page</title>'));
  await new Promise<void>((resolve) => site.listen(0, resolve));
  const { port } = site.address() as AddressInfo;
  browser = await startBrowser();
  [named, stranger] = [(await openPage(browser)).page, (await openPage(browser)).page];
  await named.goto(`http://localhost:${port}/`);
  await stranger.goto(`http://127.0.0.1:${port}/`);
});
afterAll(async () => {
  await browser?.close();
  site?.close();
  await tollgate?.close();
});

interface Seen {
  status?: number;
  body?: any;
  headers?: Record<string, string>;
  failed?: string;
}

/** What a script of the page sees of an answer. */
function ask(page: Page, path: string, init: Record<string, unknown>): Promise<Seen> {
  const script = async ({ url, options }: { url: string; options: Record<string, unknown> }): Promise<Seen> => {
    try {
      const response = await fetch(url, options);
      return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.json() };
    } catch (error) {
      return { failed: String(error) };
    }
  };
  return page.evaluate(script, { url: tollgate.gatewayUrl + path, options: init });
}

const json = { method: 'POST', body: '{"country":"IN","pin":"110001"}' };
const withKey = (key: string) => ({ headers: { 'X-API-Key': key, 'Content-Type': 'application/json' } });

it('a page that the key’s domain rule names reads answers and their limits, and is charged for what it asked alone', async () => {
  const { key } = await tollgate.createKey({ products: ['api-ip', 'api-pincode'], mode: 'test', allow: ['localhost'] });
  const first = await ask(named, '/ip?ip=8.8.8.8', withKey(key));
  expect(first).toMatchObject({
    status: 200,
    body: { ip: '8.8.8.8' },
    headers: { ratelimit: expect.any(String), 'x-tollgate-charged': '1' },
  });
  const left = ({ headers }: Seen) => Number(/r=(\d+)/.exec(headers?.['ratelimit'] ?? '')?.[1]);
  const second = await ask(named, '/ip?ip=8.8.4.4', { headers: { Authorization: `Bearer ${key}` } });
  expect(left(first) - left(second)).toBe(1);
  expect(await ask(named, '/pincode', { ...json, ...withKey(key) })).toMatchObject({ status: 200, body: [{ Status: 'Success' }] });
  const inQuery = await ask(named, `/pincode?api_key=${key}`, { ...json, headers: { 'Content-Type': 'application/json' } });
  expect(inQuery.status).toBe(200);
});

it('it reads why it was refused, too', async () => {
  const { key } = await tollgate.createKey({ products: ['api-ip'], mode: 'test', allow: ['localhost'] });
  expect(await ask(named, '/ip?IP=8.8.8.8', withKey(key))).toMatchObject({ status: 400, body: { errors: [{ field: 'IP' }] } });
  expect(await ask(named, '/pincode', { ...json, ...withKey(key) })).toMatchObject({
    status: 401,
    body: { code: 'product_not_authorised' },
  });
});

it('a page of another origin reads nothing, whether its address is named or not', async () => {
  const { key } = await tollgate.createKey({ products: ['api-ip'], mode: 'test', allow: ['localhost', await tollgate.callerAddress()] });
  expect(await ask(stranger, '/ip?ip=8.8.8.8', withKey(key))).toEqual({ failed: 'TypeError: Failed to fetch' });
  const { key: domainOnly } = await tollgate.createKey({ products: ['api-ip'], mode: 'test', allow: ['localhost'] });
  expect(await ask(stranger, '/ip?ip=8.8.8.8', withKey(domainOnly))).toEqual({ failed: 'TypeError: Failed to fetch' });
});

it('no page may send cookies along', async () => {
  const { key } = await tollgate.createKey({ products: ['api-ip'], mode: 'test', allow: ['localhost'] });
  expect(await ask(named, '/ip?ip=8.8.8.8', { ...withKey(key), credentials: 'include' })).toEqual({ failed: 'TypeError: Failed to fetch' });
});
