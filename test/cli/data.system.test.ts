import { readdirSync, writeFileSync, mkdirSync, readFileSync } from 'node:fs';
import { type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { updateList } from '../../services/products/ip/lists/update-list';
import { LIST_DEFINITIONS } from '../../services/products/ip/lists/list-definitions';
import { serve as startServer, type TestServer } from '../support/http';
import { writeMmdb } from '../products/ip/mmdb-writer';
import { indiaLines } from '../products/pincode/india-lines';
import { openedForTests } from '../support/opened';
import { runCommand } from '../support/run-command';
import { projectRoot } from '../support/project-root';
import { newFolder } from '../support/run-folder';
import { spawnSync } from 'node:child_process';

describe('tollgate data', () => {
  const opened = openedForTests();
  let server: TestServer;
  let mirror: string;
  let folder: string;
  let answer: (response: ServerResponse) => void;
  let asked: (string | undefined)[];

  beforeAll(async () => {
    const starting = startServer((request, response) => {
      asked.push(request.url);
      answer(response);
    });
    server = await opened.keep(starting);
    mirror = `${server.url}/mirror/`;
  });
  beforeEach(() => {
    folder = newFolder();
    asked = [];
  });

  const exits = (count: number) => Array.from({ length: count }, (_, index) => `185.220.${index >> 8}.${index & 255}`).join('\n');
  const DATED = 'Fri, 20 Nov 2026 06:00:00 GMT';
  const serve = (body: string, headers: Record<string, string> = { 'last-modified': DATED }) => {
    answer = (response) => response.writeHead(200, headers).end(body);
  };
  const data = (...words: string[]) => runCommand(['data', ...words, '--json'], { env: { IP_LISTS_FOLDER: folder } });
  interface Outcome {
    list: string;
    networks: number | null;
    as_of: string | null;
    error?: string;
  }
  const update = async (...words: string[]): Promise<Outcome & { code: number }> => {
    const { code, stdout } = await data('update', 'tor_exits', '--from', mirror, ...words);
    const [outcome] = JSON.parse(stdout) as Outcome[];
    if (!outcome) throw new Error('no outcome');
    return { ...outcome, code };
  };

  it('data update keeps a list with the date of its data, and data list shows it', async () => {
    serve(exits(300));
    expect(await update()).toMatchObject({ code: 0, list: 'tor_exits', networks: 300, as_of: '2026-11-20T06:00:00.000Z' });
    expect(asked).toEqual(['/mirror/torbulkexitlist']);
    const listed = JSON.parse((await data('list')).stdout) as Outcome[];
    expect(listed.map(({ list }) => list)).toEqual(LIST_DEFINITIONS.map(({ id }) => id));
    expect(listed[0]).toMatchObject({ networks: 300, as_of: '2026-11-20T06:00:00.000Z', licence: expect.stringContaining('Tor') });
    expect(readdirSync(folder)).toEqual(['tor_exits.txt']);
  });

  it.each<[string, () => void, string]>([
    ['an error page', () => serve('<!doctype html>'), 'line 1'],
    ['a list that shrank to a few', () => serve(exits(199)), '199 networks'],
    ['a list that names half the internet', () => serve(`${exits(300)}\n0.0.0.0/1`), 'too wide'],
    ['another status', () => (answer = (response) => response.writeHead(404).end(exits(300))), '404'],
    ['a redirect', () => (answer = (response) => response.writeHead(302, { location: '/elsewhere' }).end()), 'redirect'],
    [
      'a list that breaks off',
      () =>
        (answer = (response) => void response.writeHead(200, { 'content-length': '99999' }).write(exits(300), () => response.destroy())),
      'terminated',
    ],
  ])('data update leaves the list before in its place after %s', async (_case, serveBad, reason) => {
    serve(exits(300));
    await update();
    serveBad();
    const failed = await update();
    expect(failed).toMatchObject({ code: 1, networks: 300, as_of: '2026-11-20T06:00:00.000Z', error: expect.stringContaining(reason) });
    expect(readdirSync(folder)).toEqual(['tor_exits.txt']);
  });

  it('an update is bounded in size and in time', async () => {
    const [tor] = LIST_DEFINITIONS;
    if (!tor) throw new Error('no list');
    answer = (response) => {
      response.writeHead(200);
      const block = Buffer.alloc(1024 * 1024, '#');
      const more = (): void => {
        if (!response.destroyed) response.write(block, more);
      };
      more();
    };
    await expect(updateList(tor, { folder, mirror, nowMs: 0 })).rejects.toThrow('larger than');
    answer = (response) => void response.writeHead(200).write('185.220.1.1\n');
    await expect(updateList(tor, { folder, mirror, nowMs: 0, deadlineMs: 50 })).rejects.toThrow(/timeout|aborted/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('a date of the future is not believed', async () => {
    serve(exits(300), { 'last-modified': 'Fri, 20 Nov 2099 06:00:00 GMT' });
    const before = Date.now();
    expect(Date.parse((await update()).as_of ?? '')).toBeGreaterThanOrEqual(before);
  });

  it('data update renews a table from a file or URL, also from where the settings say, and leaves it after a bad one', async () => {
    const table = writeMmdb('city', { '0.0.0.0/1': { country_code: 'GB' }, '128.0.0.0/1': { country_code: 'GB' } });
    const file = join(folder, 'source.mmdb');
    writeFileSync(file, table);
    const run = async (words: string[], env: Record<string, string> = {}) => {
      const { code, stdout } = await runCommand(['data', ...words, '--json'], { env: { IP_LISTS_FOLDER: folder, ...env } });
      return { code, outcomes: JSON.parse(stdout) as Outcome[] };
    };
    const kept = { list: 'city', as_of: '2026-01-01T00:00:00.000Z' };
    expect(await run(['update', 'city', '--from', file])).toMatchObject({ code: 0, outcomes: [kept] });
    answer = (response) => response.writeHead(200).end(gzipSync(table));
    expect(await run(['update', 'city'], { IP_CITY_SOURCE: `${server.url}/city-{month}.mmdb.gz` })).toMatchObject({
      code: 0,
      outcomes: [kept],
    });
    expect(asked.at(-1)).toMatch(/^\/city-\d{4}-\d\d\.mmdb\.gz$/);
    serve('<!doctype html>');
    const failed = await run(['update', 'city', '--from', server.url]);
    expect(failed).toMatchObject({ code: 1, outcomes: [{ ...kept, error: expect.stringContaining('not a complete MMDB file') }] });
    expect(await run(['update', 'asn'])).toMatchObject({ code: 1, outcomes: [{ list: 'asn', error: expect.stringContaining('--from') }] });
    expect((await data('update', 'city', 'tor_exits', '--from', file)).code).toBe(1);
    expect((await run(['list'])).outcomes).toContainEqual(expect.objectContaining(kept));
  });

  it('data update keeps the postal codes of India with the day that is named, and data list shows it', async () => {
    const file = join(folder, 'IN.txt');
    writeFileSync(file, indiaLines());
    const env = { IP_LISTS_FOLDER: folder, PINCODE_INDIA_PINS: join(folder, 'pins.txt') };
    const run = (...words: string[]) => runCommand(['data', ...words, '--json'], { env });
    const kept = { list: 'india_pins', networks: 10_001, as_of: '2026-03-11T00:00:00.000Z' };
    const updated = await run('update', 'india_pins', '--from', file, '--as-of', '2026-03-11');
    expect([updated.code, JSON.parse(updated.stdout)]).toEqual([0, [expect.objectContaining(kept)]]);
    expect(JSON.parse((await run('list')).stdout)).toContainEqual(expect.objectContaining(kept));
    expect((await run('update', 'india_pins', '--from', file, '--as-of', 'March')).code).toBe(1);
    expect((await run('update', 'india_pins')).code).toBe(1);
  });

  it('data update leaves out lists that are switched off, and refuses names that are none', async () => {
    serve('{}');
    const off = LIST_DEFINITIONS.map(({ id }) => id).filter((id) => id !== 'aws');
    const { stdout } = await runCommand(['data', 'update', '--from', mirror, '--json'], {
      env: { IP_LISTS_FOLDER: folder, IP_LISTS_OFF: off.join(',') },
    });
    expect((JSON.parse(stdout) as Outcome[]).map(({ list }) => list)).toEqual(['aws']);
    const unknown = await data('update', 'tor');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('tor is not a list')]);
    expect((await data('update', '--from', 'file:///etc')).code).toBe(1);
  });

  it('data update fetches whom IP_RDAP asks, by name or where it is on, and not else', async () => {
    const networks = Array.from({ length: 60 }, (_, index) => `${index + 1}.0.0.0/8`);
    const servers = JSON.stringify({ publication: '2026-10-01T12:00:00Z', services: [[networks, ['https://rdap.example/']]] });
    serve(servers);
    const run = async (words: string[], env: Record<string, string> = {}) => {
      const { code, stdout } = await runCommand(['data', ...words, '--json'], { env: { IP_LISTS_FOLDER: folder, ...env } });
      return { code, outcomes: JSON.parse(stdout) as Outcome[] };
    };
    const fetched = { list: 'rdap_servers', networks: 120, as_of: '2026-10-01T12:00:00.000Z' };
    expect(await run(['update', 'rdap_servers', '--from', mirror])).toMatchObject({ code: 0, outcomes: [fetched] });
    expect(asked).toEqual(['/mirror/rdap/ipv4.json', '/mirror/rdap/ipv6.json']);
    expect((await run(['list'], { IP_RDAP: 'on' })).outcomes.at(-1)).toMatchObject(fetched);
    expect((await run(['list'])).outcomes.map(({ list }) => list)).not.toContain('rdap_servers');
    serve('<html>');
    const failed = await run(['update', 'rdap_servers', '--from', mirror]);
    expect(failed).toMatchObject({ code: 1, outcomes: [{ ...fetched, error: expect.stringContaining('bootstrap') }] });
  });
});

describe('tollgate check', () => {
  let root: string;
  beforeEach(() => (root = newFolder()));

  beforeAll(() => {
    // The check reads what the build wrote.
    const { status, stderr } = spawnSync(process.execPath, [join(projectRoot, 'cli', 'build.mjs')], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  });

  describe('check', () => {
    it('names routes that no service answers, the way out for a plugin description, and what npm start would refuse', async () => {
      const put = (path: string, from = '', to = ''): void => {
        mkdirSync(join(root, path, '..'), { recursive: true });
        writeFileSync(join(root, path), readFileSync(join(projectRoot, path), 'utf8').replace(from, to));
      };
      const check = async (): Promise<string> => (await runCommand(['check'], { root, databaseUrl: '' })).stdout;
      put('dist/services/openapi/document.json', '"/pincode":', '"/pinkode":');
      put('kong/access-layer.json', '"deny", "allow"', '"allow"');
      put('kong/catalogue.yml');
      put('kong/kong.yml');
      put('kong/kong.conf', 'log_level = alert', 'log_level = crit');
      const refused = await check();
      expect(refused).toContain('✗ services: product api-pincode: no service of services/products/registry.ts serves /pincode');
      expect(refused).toMatch(/✗ plugin: [^\n]*npm run plugin-info/);
      expect(refused).toContain('✗ kong: kong.conf: log_level: must be alert');
      put('kong/kong.conf');
      put('kong/access-layer.json');
      put('kong/kong.yml', '    retries: 1', '    tags: [live]');
      const noted = await check();
      for (const passed of ['✓ kong\n', '✓ catalogue\n']) expect(noted).toContain(passed);
      expect(noted).toContain('· npm start would refuse kong/kong.yml: services[0].tags: the local gateway does not implement this');
      put('kong/catalogue.yml', 'prefix: /ip\n', 'prefix: ip\n');
      expect(await check()).toMatch(/✗ catalogue: kong\/catalogue\.yml:\d+:\d+ products\[8\]\.prefix: must be a path/);
    });
  });
});
