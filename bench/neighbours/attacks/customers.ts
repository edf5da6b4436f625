import sharp from 'sharp';
import { inLoops, atRate, shoot } from '../attacker';
import { type HostileNetwork } from '../hostile-network';
import { type Neighbourhood, type HealthyPath } from '../neighbourhood';
import { type Attack } from '../observe-attack';

const APK = 'application/vnd.android.package-archive';
const JSON_TYPE = { 'content-type': 'application/json' };
/** The most rules that a customer may have, as keys and rules of each. */
const [KEYS, RULES] = [20, 1_000];

function networks(key: number): string[] {
  return Array.from({ length: RULES }, (_, index) => `10.${key}.${index >> 8}.${index & 255}`);
}

/** Research with a paying customer's key: four requests at a time, with twenty links each. */
function research(name: string, link: (index: number) => string, site?: Parameters<HostileNetwork['serve']>[0]): Attack {
  return {
    name,
    paths: ['seo'],
    async prepare({ installation, network, newKey }: Neighbourhood) {
      if (site) network.serve(site);
      const { key } = await newKey({ products: ['api-seo'] });
      const url = `${installation.gatewayUrl}/seo/link_pyramid`;
      let next = 0;
      return (signal) =>
        inLoops(4, signal, () => {
          const links = Array.from({ length: 20 }, () => link(next++));
          return shoot(url, { method: 'POST', headers: { 'x-api-key': key, ...JSON_TYPE }, body: JSON.stringify({ links }), signal });
        });
    },
  };
}

/** Requests with one key, in as many loops as the attacker likes. */
function loopsOf(
  name: string,
  { path, loops, mode = 'live' }: { path: HealthyPath; loops: number; mode?: 'live' | 'test' },
  make: (neighbourhood: Neighbourhood) => Promise<{ url: string; method: string; type?: string; body?: Buffer; product: string }>,
): Attack {
  return {
    name,
    paths: [path],
    async prepare(neighbourhood) {
      const { url, method, type, body, product } = await make(neighbourhood);
      const { key } = await neighbourhood.newKey({ products: [product], mode });
      const headers = { 'x-api-key': key, ...(type !== undefined && { 'content-type': type }) };
      const target = neighbourhood.installation.gatewayUrl + url;
      return (signal) => inLoops(loops, signal, () => shoot(target, { method, headers, signal, ...(body && { body }) }));
    },
  };
}

async function largePlainPicture(): Promise<Buffer> {
  const grey = sharp({ create: { width: 4_096, height: 4_096, channels: 3, background: '#808080' } });
  return grey.png({ compressionLevel: 9, palette: true }).toBuffer();
}

const HOSTILE_PAGE = Buffer.alloc(2_000_000, '<div>');
const SMALL_PAGE = Buffer.from('<title>small</title>');
const HOSTILE_ROBOTS = Buffer.alloc(500_000, 'User-agent: *\nDisallow: /*a*b\n');

export const customers: readonly Attack[] = [
  {
    name: '20 keys of 1,000 rules, in turn',
    paths: [],
    async prepare({ installation, newKey }) {
      const customer = installation.newEmail();
      const keys: string[] = [];
      for (let index = 0; index < KEYS; index++) keys.push((await newKey({ products: ['api-ip'], customer, allow: networks(index) })).key);
      return (signal) =>
        atRate(100, signal, (index) => shoot(`${installation.gatewayUrl}/ip`, { headers: { 'x-api-key': keys[index % KEYS] ?? '' } }));
    },
  },
  {
    name: 'failures on purpose',
    paths: [],
    async prepare({ installation, newKey }) {
      const { product, route, input } = await installation.sandboxGet('provider_down');
      const { key } = await newKey({ products: [product], mode: 'test', daily: 300, monthly: 9_000 });
      const url = `${installation.gatewayUrl}${route}?${new URLSearchParams(input as Record<string, string>).toString()}`;
      return (signal) => atRate(100, signal, () => shoot(url, { headers: { 'x-api-key': key } }));
    },
    // A tenth of the day's 300 is given back, so at most 330 were served.
    verify: (_neighbourhood, { statuses }) => expect((statuses.get(502) ?? 0) + (statuses.get(504) ?? 0)).toBeLessThanOrEqual(330),
  },
  research('a page of 400,000 open <div>', (index) => `http://h${index}.hostile.example/`, { page: HOSTILE_PAGE }),
  research('robots.txt of 500 KB', (index) => `http://r${index}.hostile.example/${'a'.repeat(1_000)}`, {
    page: SMALL_PAGE,
    robots: HOSTILE_ROBOTS,
  }),
  research('hosts whose name servers are silent', (index) => `http://h${index}.silent.example/`),
  {
    name: '16 slow uploads of a test key',
    paths: ['app'],
    async prepare({ installation, apk, newKey }) {
      const { key } = await newKey({ products: ['api-app'], mode: 'test' });
      const url = `${installation.gatewayUrl}/app/analyze`;
      // The body is announced but never sent; sent whole, it would be an APK.
      const headers = { 'x-api-key': key, 'content-type': APK, 'content-length': String(apk.length), expect: '100-continue' };
      return (signal) => inLoops(16, signal, () => shoot(url, { method: 'POST', headers, signal }));
    },
  },
  loopsOf('17 loops of a large grey picture', { path: 'image', loops: 17 }, async () => ({
    url: '/image/background_remover',
    method: 'POST',
    type: JSON_TYPE['content-type'],
    body: Buffer.from(JSON.stringify({ image: (await largePlainPicture()).toString('base64') })),
    product: 'api-image',
  })),
  loopsOf('sessions that nobody ends', { path: 'gst', loops: 8, mode: 'test' }, () =>
    Promise.resolve({ url: '/gst/start', method: 'GET', product: 'api-gst' }),
  ),
];
