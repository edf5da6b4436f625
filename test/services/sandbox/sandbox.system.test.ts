import { type ChildProcess, type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promises as dns } from 'node:dns';
import { createInterface } from 'node:readline';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable } from 'node:stream';
import { WebSocket } from 'ws';
import { PRODUCTS } from '../../support/catalogue';
import { createSandboxUpstreams } from '../../../services/sandbox/sandbox-upstreams';
import { type SandboxExample, type SandboxUpstream } from '../../../services/sandbox/sandbox-upstream';
import { type Sandbox, startSandbox } from '../../../services/sandbox/start-sandbox';

let sandbox: Sandbox;
const echo: SandboxUpstream = {
  name: 'echo',
  examples: [],
  webSockets: { '/link': (socket) => socket.on('message', (data: Buffer) => socket.send(data.toString().toUpperCase())) },
};

beforeAll(async () => {
  sandbox = await startSandbox({ host: '127.0.0.1', port: 0, upstreams: [...createSandboxUpstreams(), echo] });
});
afterAll(() => sandbox.close());

async function get(path: string): Promise<{ status: number; type: string | null; text: string }> {
  const response = await fetch(sandbox.url + path);
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

describe('the list of magic inputs', () => {
  let examples: SandboxExample[];
  beforeAll(async () => (examples = JSON.parse((await get('/')).text)));

  test('names a published route, an outcome and an input for every entry', () => {
    for (const each of examples) {
      const product = PRODUCTS.find(({ id }) => id === each.product);
      expect(product?.routes.map(({ path }) => path)).toContain(each.route);
      expect(each).toEqual({
        product: expect.any(String),
        route: expect.stringMatching(/^\//),
        method: expect.stringMatching(/^(GET|POST)$/),
        outcome: expect.stringMatching(/^[a-z_]+$/),
        input: expect.any(Object),
        yields: expect.any(String),
      });
    }
  });

  test.each([
    ['/ip', ['success']],
    ['/pincode', ['success', 'no_records', 'provider_down', 'timeout']],
    ['/vahaan', ['success']],
    ['/background_remover', ['success']],
  ])('offers for %s at least %j, each once', (route, outcomes) => {
    const offered = examples.filter((each) => each.route === route);
    expect(offered.map(({ outcome }) => outcome)).toEqual(expect.arrayContaining(outcomes));
    expect(new Set(offered.map(({ method, outcome }) => `${method} ${outcome}`)).size).toBe(offered.length);
  });
});

describe('the postalpincode.in simulator', () => {
  test('answers an array of one object with a message, a status and post offices', async () => {
    const { status, type, text } = await get('/postalpincode/pincode/110001');
    expect([status, type]).toEqual([200, 'application/json; charset=utf-8']);
    const body = JSON.parse(text);
    expect(body).toHaveLength(1);
    expect(Object.keys(body[0])).toEqual(['Message', 'Status', 'PostOffice']);
    expect(body[0]).toMatchObject({ Message: 'Number of pincode(s) found:6', Status: 'Success' });
    expect(Object.keys(body[0].PostOffice[0])).toEqual([
      'Name', 'Description', 'BranchType', 'DeliveryStatus', 'Circle', 'District', 'Division', 'Region', 'Block', 'State', 'Country', 'Pincode',
    ]); // prettier-ignore
    expect(body[0].PostOffice.map((office: { Name: string }) => office.Name)).toContain('New Delhi ');
  });

  test('leaves Block out where the real one does', async () => {
    const [{ PostOffice }] = JSON.parse((await get('/postalpincode/pincode/600001')).text);
    expect(PostOffice[0]).not.toHaveProperty('Block');
  });

  test('finds post offices by a part of their name in any case', async () => {
    const [{ Status, PostOffice }] = JSON.parse((await get('/postalpincode/postoffice/g.p.o.')).text);
    expect(Status).toBe('Success');
    expect(PostOffice.map((office: { Pincode: string }) => office.Pincode).sort()).toEqual([
      '400001',
      '500001',
      '560001',
      '600001',
      '700001',
    ]);
  });

  test.each(['pincode/999404', 'pincode/123456', 'postoffice/Nowhere'])('misses %s as the real one does', async (path) => {
    expect(await get(`/postalpincode/${path}`)).toMatchObject({
      status: 200,
      text: '[{"Message":"No records found","Status":"Error","PostOffice":null}]',
    });
  });

  test('can say 404 in a 200, be down, be over its quota, and hang up', async () => {
    expect(JSON.parse((await get('/postalpincode/pincode/999405')).text)[0]).toMatchObject({ Status: '404', PostOffice: null });
    expect((await get('/postalpincode/pincode/999502')).status).toBe(502);
    expect((await get('/postalpincode/pincode/999429')).status).toBe(429);
    await expect(get('/postalpincode/pincode/999503')).rejects.toThrow();
  });
});

describe('the zippopotam.us simulator', () => {
  test('answers keys with spaces and coordinates as text', async () => {
    expect(await get('/zippopotam/us/90210')).toMatchObject({
      status: 200,
      text:
        '{"post code":"90210","country":"United States","country abbreviation":"US","places":[{"place name":"Beverly Hills",' +
        '"longitude":"-118.4065","state":"California","state abbreviation":"CA","latitude":"34.0901"}]}',
    });
  });

  test('takes the country in any case and lists every place of a code', async () => {
    expect(JSON.parse((await get('/zippopotam/AU/2000')).text).places).toHaveLength(2);
  });

  test.each(['us/00404', 'us/99999', 'xx/90210'])('misses %s with an empty 404', async (path) => {
    expect(await get(`/zippopotam/${path}`)).toMatchObject({ status: 404, text: '{}' });
  });
});

describe('the GeoNames simulator', () => {
  test('answers postal codes with numbers', async () => {
    const body = JSON.parse((await get('/geonames/postalCodeLookupJSON?postalcode=10115&country=DE&username=u')).text);
    expect(body.postalcodes).toEqual([
      { adminName1: 'Berlin', adminCode1: 'BE', postalcode: '10115', countryCode: 'DE', lng: 13.3846, lat: 52.5323, placeName: 'Berlin' },
    ]);
  });

  test('wants an account', async () => {
    expect(JSON.parse((await get('/geonames/postalCodeLookupJSON?postalcode=10115&country=DE')).text).status.value).toBe(10);
  });
});

describe('the AbuseIPDB simulator', () => {
  test('wants a key and an address', async () => {
    expect((await get('/abuseipdb/api/v2/check?ipAddress=192.52.193.40')).status).toBe(401);
    const headers = { Key: 'sandbox' };
    expect((await fetch(`${sandbox.url}/abuseipdb/api/v2/check?ipAddress=x`, { headers })).status).toBe(422);
    const report = await (await fetch(`${sandbox.url}/abuseipdb/api/v2/check?ipAddress=192.52.193.40`, { headers })).json();
    expect(report).toMatchObject({ data: { ipAddress: '192.52.193.40', abuseConfidenceScore: 100, isTor: false } });
  });
});

describe('the name server', () => {
  function resolverWith(timeout: number): dns.Resolver {
    const made = new dns.Resolver({ timeout, tries: 1 });
    made.setServers([`127.0.0.1:${sandbox.port}`]);
    return made;
  }
  let resolver: dns.Resolver;
  beforeAll(() => (resolver = resolverWith(20_000)));

  test('answers names, addresses and block list queries', async () => {
    expect(await resolver.resolvePtr('8.8.8.8.in-addr.arpa')).toEqual(['dns.google']);
    expect(await resolver.resolve4('dns.google')).toEqual(['8.8.8.8']);
    expect(await resolver.resolve6('dns.google')).toEqual(['2001:4860:4860::8888']);
    expect(await resolver.resolve4('31.193.52.192.zen.spamhaus.org')).toEqual(['127.0.0.2', '127.0.0.9']);
  });

  test('tells an unknown name from a name without such a record, and can stay silent', async () => {
    await expect(resolver.resolve4('nowhere.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolver.resolve6('static.customer.sandbox.example')).rejects.toMatchObject({ code: 'ENODATA' });
    await expect(resolverWith(300).resolvePtr('23.193.52.192.in-addr.arpa')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  });
});

describe('WebSocket end points', () => {
  test("are served below the upstream's name, and nowhere else", async () => {
    const socket = new WebSocket(`${sandbox.url.replace('http', 'ws')}/echo/link?x=1`);
    await once(socket, 'open');
    socket.send('hello');
    const [answer] = await once(socket, 'message');
    expect(String(answer)).toBe('HELLO');
    socket.close();
    const stranger = new WebSocket(`${sandbox.url.replace('http', 'ws')}/echo/other`);
    const [error] = await once(stranger, 'error');
    expect(String(error)).toContain('404');
  });
});

describe('the sandbox process', () => {
  const root = join(__dirname, '../../..');
  const program = join(root, '.test', `sandbox-${process.pid}.cjs`);

  beforeAll(() => {
    const options = ['--bundle', '--platform=node', '--packages=external', '--log-level=error', `--outfile=${program}`];
    execFileSync(join(root, 'node_modules/.bin/esbuild'), [join(root, 'services/sandbox/main.ts'), ...options]);
  });
  afterAll(() => rm(program));
  const children: ChildProcess[] = [];
  afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));

  function start(port: string): ChildProcessByStdio<null, Readable, Readable> {
    return spawn(process.execPath, [program], { env: { ...process.env, SANDBOX_PORT: port }, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  test('prints one ready line and ends cleanly on SIGTERM with a request hanging', async () => {
    const child = start('0');
    children.push(child);
    const exited = once(child, 'exit');
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { ready, port } = JSON.parse(String(line));
    expect(ready).toBe(true);
    const hanging = fetch(`http://127.0.0.1:${port}/postalpincode/pincode/999504`).catch((error: unknown) => String(error));
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(await hanging).toContain('fetch failed');
  });

  test.each([
    ['is no number', 'x', 'SANDBOX_PORT must be a port number'],
    ['is taken', () => String(sandbox.port), 'EADDRINUSE'],
  ])('says so and fails when its port %s', async (_what, port, message) => {
    const child = start(typeof port === 'string' ? port : port());
    let said = '';
    child.stderr.on('data', (data: Buffer) => (said += data.toString()));
    expect((await once(child, 'close'))[0]).toBe(1);
    expect(said).toContain(message);
    expect(said.trim().split('\n')).toHaveLength(1);
  });
});
