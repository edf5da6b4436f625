import { send, type Reply } from '../support/http';
import { openInstallation, type IssuedKey, type KeyOptions } from './installation';
import { useOpened } from '../support/opened';

const tollgate = useOpened(openInstallation);

const newKey = (options: Partial<KeyOptions> = {}): Promise<IssuedKey> =>
  tollgate.createKey({ products: ['api-gdplay'], mode: 'test', daily: 5, monthly: 100, ...options });

function makeLink({ key }: IssuedKey, more: Record<string, unknown> = {}): Promise<Reply> {
  const body = JSON.stringify({ id: 'sandbox-video-0001', ...more });
  return send(`${tollgate.gatewayUrl}/gdplay/link`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body,
  });
}

async function pathOf(issued: IssuedKey, more: Record<string, unknown> = {}): Promise<string> {
  return String((await makeLink(issued, more)).json().data.path);
}

const play = (path: string, headers: Record<string, string> = {}): Promise<Reply> => send(tollgate.gatewayUrl + path, { headers });
const codeOf = (reply: Reply): unknown => [reply.status, reply.json().code];

/** Sends until the answer is a refusal; every store, cache and node has a second. */
async function refusedWithin(ms: number, path: string): Promise<unknown> {
  const until = Date.now() + ms;
  let reply = await play(path, { Range: 'bytes=0-9' });
  while (reply.status === 206 && Date.now() < until) reply = await play(path, { Range: 'bytes=0-9' });
  return codeOf(reply);
}

describe('a link', () => {
  it('plays a video without a key, range by range, for the one unit that it cost', async () => {
    const issued = await newKey();
    const made = await makeLink(issued);
    expect([made.status, made.headers['x-tollgate-charged']]).toEqual([200, '1']);
    const { path, size_bytes: size } = made.json().data;
    for (let first = 0; first < 12; first++) {
      const reply = await play(path, { Range: `bytes=${first}-${first}` });
      expect([reply.status, reply.headers['content-range'], reply.headers['x-tollgate-charged']]).toEqual([
        206,
        `bytes ${first}-${first}/${size}`,
        undefined,
      ]);
    }
    expect(String((await makeLink(issued)).headers['ratelimit'])).toMatch(/^"daily";r=3;/);
  });

  it('goes on playing when the limit is used up: it was paid for; but no other is made', async () => {
    const issued = await newKey({ daily: 1 });
    const path = await pathOf(issued);
    expect(codeOf(await makeLink(issued))).toEqual([429, 'quota_daily_exceeded']);
    expect((await play(path)).status).toBe(200);
  });

  it('dies with its key within a second', async () => {
    const issued = await newKey();
    const path = await pathOf(issued);
    expect((await play(path)).status).toBe(200);
    await tollgate.keys.revoke(issued.id);
    expect(await refusedWithin(1_000, path)).toEqual([401, 'key_unknown']);
  });

  it('is held to the rules of its key, and to its own address', async () => {
    const issued = await newKey();
    const elsewhere = await pathOf(issued, { viewer: '192.0.2.1' });
    expect(codeOf(await play(elsewhere))).toEqual([401, 'link_not_valid']);
    expect((await play(await pathOf(issued, { viewer: await tollgate.callerAddress() }))).status).toBe(200);
    const path = await pathOf(issued);
    await tollgate.keys.rules(issued.id, ['shop.example.com']);
    expect(await refusedWithin(1_000, path)).toEqual([401, 'caller_not_whitelisted']);
    expect((await play(path, { Referer: 'https://shop.example.com/film' })).status).toBe(200);
  });

  it('opens nothing else', async () => {
    const path = await pathOf(await newKey());
    const query = path.slice(path.indexOf('?'));
    for (const other of [`/gdplay${query}`, `/gdplay/thumbnail${query}&id=sandbox-video-0001`, `/ip${query}`, `/vahaan${query}`])
      expect(codeOf(await play(other))).toEqual([401, 'link_not_valid']);
    expect((await play(`${path}&id=sandbox-audio-0001`)).status).toBe(400);
    const posted = await send(`${tollgate.gatewayUrl}/gdplay/link${query}`, { method: 'POST', body: 'id=sandbox-video-0001' });
    expect(codeOf(posted)).toEqual([401, 'key_missing']);
  });
});
