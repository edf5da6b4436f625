import { writeFileSync } from 'node:fs';
import { type ServerResponse } from 'node:http';
import { ConfigError } from '../../kong/local/config/config-error';
import { closeConnections, send, serve, type TestServer } from '../support/http';
import { startGateway, writeConfig, type RunningGateway } from './support/test-gateway';

/** A service that says its name. */
const startUpstream = (name: string): Promise<TestServer> =>
  serve((request, response) => void (request.url === '/x/hold' ? held.push(response) : response.end(name)));

const service = (name: string, url: string): object => ({
  name,
  url,
  retries: 0,
  routes: [{ name, paths: [`/${name}`], strip_path: false }],
});
const kongYml = (...services: object[]): string => JSON.stringify({ _format_version: '3.0', services });

/** Answers that are held back until the test lets them go. */
let held: ServerResponse[];
let first: TestServer;
let second: TestServer;
let gateway: RunningGateway;
let file: string;
beforeEach(async () => {
  held = [];
  first = await startUpstream('first');
  second = await startUpstream('second');
  file = writeConfig('kong.yml', kongYml(service('x', first.url)));
  gateway = await startGateway({ kongYmlPath: file });
});
afterEach(async () => {
  await gateway.close({ graceMs: 0 });
  await Promise.all([first.close(), second.close()]);
  closeConnections();
});

const get = async (path: string): Promise<string> => {
  const { status, text } = await send(`http://127.0.0.1:${gateway.port}${path}`);
  return status === 200 ? text : String(status);
};
const change = (text: string): void => writeFileSync(file, text);

describe('a reload of kong.yml', () => {
  it('brings new services and sends the ones that moved elsewhere', async () => {
    expect([await get('/x'), await get('/y')]).toEqual(['first', '404']);
    change(kongYml(service('x', second.url), service('y', first.url)));
    expect(await get('/x')).toBe('first');
    gateway.reload();
    expect([await get('/x'), await get('/y')]).toEqual(['second', 'first']);
    change(kongYml(service('y', first.url)));
    gateway.reload();
    expect([await get('/x'), await get('/y')]).toEqual(['404', 'first']);
  });

  it('lets requests end where they began', async () => {
    const waiting = get('/x/hold');
    while (held.length === 0) await get('/x');
    change(kongYml(service('y', second.url)));
    gateway.reload();
    held[0]?.end('late');
    expect(await waiting).toBe('late');
  });

  it('with a file that cannot be used changes nothing', async () => {
    change(kongYml({ ...service('x', second.url), colour: 'blue' }));
    expect(() => gateway.reload()).toThrow(ConfigError);
    expect(await get('/x')).toBe('first');
  });

  it('fails no request, however many run', async () => {
    const answers: string[] = [];
    let running = true;
    const callers = Array.from({ length: 4 }, async () => {
      while (running) answers.push(await get('/x'));
    });
    for (let turn = 0; turn < 20; turn += 1) {
      change(kongYml(service('x', turn % 2 === 0 ? second.url : first.url)));
      gateway.reload();
      await get('/x');
    }
    running = false;
    await Promise.all(callers);
    expect(answers.filter((answer) => answer !== 'first' && answer !== 'second')).toEqual([]);
    expect(new Set(answers).size).toBe(2);
  });
});
