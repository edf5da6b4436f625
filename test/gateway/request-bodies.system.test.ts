import { existsSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { encodeExitArgs } from '../../plugins/server/wire/pdk-messages';
import { eventually } from '../support/eventually';
import { type ScriptedEvent } from './support/plugin-server';
import { exchangeRaw, splitAnswer } from './support/raw-client';
import { setStage, type Stage, type StageSettings } from './support/stage';
import { encodeByteString } from '../support/gateway/kong-messages';

describe('request bodies', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await setStage({ kongConf: 'nginx_http_client_max_body_size = 100k\n' });
  });

  afterEach(() => stage.close());

  const post = async (path: string, body: string, headers: string): Promise<ReturnType<typeof splitAnswer>> =>
    splitAnswer(await exchangeRaw(stage.gateway.port, `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n${body}`));

  const refuse = (event: ScriptedEvent): void =>
    void event.call('kong.response.exit', encodeExitArgs({ status: 401, body: Buffer.from('no key') })).catch(() => undefined);

  const chunked = (body: string): string =>
    `${(body.match(/[^]{1,1000}/g) ?? []).map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`;

  it('over the buffer go to a file that only this user can read, and that is gone afterwards', async () => {
    let path = '';
    let seen: unknown;
    stage.plugin.onEvent = async (event) => {
      const reply = await event.call('kong.request.get_raw_body');
      path = reply.toString('latin1', 2);
      seen = { kind: reply[0], mode: statSync(path).mode & 0o777, content: readFileSync(path, 'latin1') };
      event.end();
    };
    const body = 'x'.repeat(50_000);
    const answer = await post('/echo', body, `Content-Length: ${body.length}\r\n`);
    expect(JSON.parse(answer.body)).toMatchObject({ bodyLen: 50_000 });
    expect(seen).toEqual({ kind: (2 << 3) | 2, mode: 0o600, content: body });
    await eventually(() => !existsSync(path));
  });

  it('are removed from disk when the plugin refuses, too', async () => {
    let path = '';
    stage.plugin.onEvent = async (event) => {
      path = (await event.call('kong.request.get_raw_body')).toString('latin1', 2);
      refuse(event);
    };
    const answer = await post('/echo', 'x'.repeat(50_000), 'Content-Length: 50000\r\n');
    expect(answer.status).toBe(401);
    await eventually(() => path !== '' && !existsSync(path));
  });

  it('over the limit are refused with 413 before any plugin when declared, and while reading when not', async () => {
    const declared = await post('/echo', '', 'Content-Length: 102401\r\n');
    expect([declared.status, JSON.parse(declared.body)]).toEqual([413, expect.objectContaining({ message: 'Payload too large' })]);
    expect(declared.head.split('\r\n')[0]).toBe('HTTP/1.1 413 Request Entity Too Large');
    expect(stage.plugin.calls).toEqual([]);
    const streamed = await post('/strip', chunked('z'.repeat(102_401)), 'Transfer-Encoding: chunked\r\n');
    expect(streamed.status).toBe(413);
  });

  it('can be replaced without having been read', async () => {
    stage.plugin.onEvent = async (event) => {
      await event.call('kong.service.request.set_raw_body', encodeByteString(Buffer.from('new')));
      event.end();
    };
    const answer = await post('/echo', 'original', 'Content-Length: 8\r\n');
    expect(JSON.parse(answer.body)).toMatchObject({ body: 'new', bodyLen: 3 });
  });

  it('are asked for with 100 Continue only once somebody reads them', async () => {
    stage.plugin.onEvent = refuse;
    const head = 'HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n';
    expect(await exchangeRaw(stage.gateway.port, `POST /echo ${head}`)).toMatch(/^HTTP\/1\.1 401 /);
    const read = await exchangeRaw(stage.gateway.port, `POST /strip ${head}hello`);
    expect(read).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  it('that stop half-way end the connection after the body time-out', async () => {
    stage = await restart({ clientTimeoutMs: 400 });
    const answer = await exchangeRaw(stage.gateway.port, 'POST /strip HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
    expect(answer).toBe('');
  });

  it('that the plugin refused without reading leave the connection usable', async () => {
    stage.plugin.onEvent = (event) => {
      refuse(event);
      stage.plugin.onEvent = (next) => next.end();
    };
    const two =
      'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const answers = await exchangeRaw(stage.gateway.port, two);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
  });

  /** Sends the head and a body that is larger than all buffers, and reads at once or only when all is sent. */
  function upload(path: string, bytes: number, isReadAtOnce: boolean): Promise<ReturnType<typeof splitAnswer>> {
    return new Promise((resolve, reject) => {
      const socket = connect(stage.gateway.port, '127.0.0.1');
      let text = '';
      const read = (): void => void socket.on('data', (chunk) => (text += chunk.toString('latin1')));
      socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`);
      socket.write(Buffer.alloc(bytes), isReadAtOnce ? undefined : read);
      if (isReadAtOnce) read();
      socket.on('end', () => {
        socket.destroy();
        resolve(splitAnswer(text));
      });
      socket.on('error', reject);
    });
  }

  it('that are large and unread end the connection after the refusal, which still arrives', async () => {
    stage = await restart({ kongConf: '' });
    stage.plugin.onEvent = refuse;
    const answer = await upload('/echo', 50_000_000, true);
    expect(answer).toMatchObject({ status: 401, body: 'no key' });
    expect(answer.headers.get('connection')).toBe('close');
  });

  it('of which the service needed only the start do not keep its answer from a client that writes them first', async () => {
    const service: NonNullable<StageSettings['service']> = (request, response) => {
      request.once('data', () => {
        request.pause();
        response.writeHead(413, { 'Content-Length': 9 }).end('too large');
      });
    };
    stage = await restart({ kongConf: '', service });
    expect(await upload('/strip', 20_000_000, false)).toMatchObject({ status: 413, body: 'too large' });
  });

  async function restart(settings: Parameters<typeof setStage>[0]): Promise<Stage> {
    await stage.close();
    return setStage(settings);
  }
});
