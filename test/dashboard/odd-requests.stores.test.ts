import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { eventually } from '../support/eventually';
import { startDashboard, type TestDashboard } from './support/dashboard';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard({ webFiles: { 'index.html': '<!doctype html><title>Tollgate</title>', 'assets/main-abc123.js': '' } });
  await dashboard.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => dashboard.close());

async function open(): Promise<Socket> {
  const socket = connect((dashboard.app.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** The answer to a request line as it stands: clients would tidy the path up. */
async function answerTo(path: string): Promise<string> {
  const socket = await open();
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += String(chunk)));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: dashboard.test\r\nConnection: close\r\n\r\n`);
  await once(socket, 'close');
  return text;
}

describe('a path that names no page', () => {
  it.each([
    ['parent folders', '/../x'],
    ['parent folders, encoded', '/%2e%2e/x'],
    ['two slashes', '//x'],
    ['U+0000', '/%00'],
    ['U+0000 in a file name', '/assets/%00.js'],
    ['a broken escape', '/%zz'],
    ['9 KB', `/${'a'.repeat(9_000)}`],
    ['a folder', '/assets/'],
    ['a backslash', '/\\x'],
  ])('is 400 or 404, and nothing for the log of errors: %s', async (_what, path) => {
    const before = dashboard.log().length;
    expect(await answerTo(path)).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(dashboard.log().slice(before)).not.toMatch(/"level":"(error|warn)"/);
  });
});

describe('a form that is closed while it is being sent', () => {
  it('is no error in the log, nor a failure in the figures', async () => {
    const before = dashboard.log().length;
    const lines = () => dashboard.log().slice(before);
    const socket = await open();
    const headers = ['Host: dashboard.test', 'Origin: http://dashboard.test', 'Content-Type: application/json', 'Content-Length: 500'];
    socket.write(`POST /api/auth/sign-in/email HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{"email":`);
    await new Promise((done) => setTimeout(done, 50));
    socket.destroy();
    await eventually(() => lines().includes('the client broke off its request'));
    expect(lines()).not.toMatch(/"level":"(error|warn)"/);
    expect(lines()).not.toContain('"status":500');
  });
});
