import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandboxUpstreams } from '../../services/sandbox/sandbox-upstreams';
import { startSandbox } from '../../services/sandbox/start-sandbox';
import { type KeyOptions, openOwnInstallation, type OwnInstallation } from '../../test/acceptance/installation';
import { ApkBuilder } from '../../test/support/apk/apk-builder';
import { CLEAN_APP } from '../../test/support/apk/apk-samples';
import { type Bystander, type BystanderCall, startBystander } from './bystander';
import { type HostileNetwork, startHostileNetwork } from './hostile-network';
import { type Footprint, readFootprint } from './footprint';
import { disc } from '../../test/workers/image/pictures';

/** Paths that the bystander may call. */
export type HealthyPath = 'ip' | 'form' | 'seo' | 'app' | 'image' | 'gst';

/** The whole system as `npm start` starts it, a paying customer who does no harm, and an internet that does. */
export interface Neighbourhood {
  readonly installation: OwnInstallation;
  readonly network: HostileNetwork;
  readonly bystander: Bystander;
  /** A small, correct APK. */
  readonly apk: Buffer;
  /** A live key with limits that suffice for every attack. It belongs to a customer of its own unless the options name one. */
  newKey(this: void, options: Partial<KeyOptions> & Pick<KeyOptions, 'products'>): Promise<{ key: string; id: string }>;
  /** Prepares the calls of a customer who has called nothing yet. Sessions that were open before would count against it. */
  calls(this: void, ...paths: readonly HealthyPath[]): Promise<readonly BystanderCall[]>;
  footprint(this: void): Footprint;
  close(): Promise<void>;
}

const PRODUCTS = ['api-ip', 'api-vahaan', 'api-seo', 'api-app', 'api-image', 'api-gst'];
const LIMITS = { daily: 1_000_000, monthly: 10_000_000 };

async function buildApk(): Promise<Buffer> {
  const builder = await ApkBuilder.create();
  try {
    return readFileSync(await builder.build('clean', CLEAN_APP));
  } finally {
    await builder.close();
  }
}

const HEAVY: ReadonlySet<string> = new Set(['seo', 'app', 'image']);

/** Rhythms that leave nine tenths of two cores idle. */
function healthyCalls(gateway: string, key: string, files: { apk: Buffer; picture: Buffer }): Readonly<Record<HealthyPath, BystanderCall>> {
  const auth = { 'x-api-key': key };
  const json = (value: object): Pick<BystanderCall, 'method' | 'headers' | 'body'> => ({
    method: 'POST',
    headers: { ...auth, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(value)).toString('base64'),
  });
  const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } } as const;
  const file = { method: 'POST', headers: { ...auth, 'content-type': 'application/vnd.android.package-archive' } } as const;
  const calls = {
    ip: { url: '/ip?ip=8.8.8.8', everyMs: 25, method: 'GET', headers: auth },
    form: { url: '/vahaan', everyMs: 50, ...form, body: Buffer.from(`api_key=${key}`).toString('base64') },
    seo: { url: '/seo/link_pyramid', everyMs: 400, ...json({ links: ['http://good.shop.example/page'] }) },
    app: { url: '/app/analyze', everyMs: 500, ...file, body: files.apk.toString('base64') },
    image: { url: '/image/background_remover', everyMs: 1_000, ...json({ image: files.picture.toString('base64') }) },
    gst: { url: '/gst/start', everyMs: 400, method: 'GET', headers: auth },
  } as const satisfies Record<HealthyPath, Omit<BystanderCall, 'name' | 'isHeavy'>>;
  const named = Object.entries(calls).map(([path, call]) => [
    path,
    { ...call, name: path, url: gateway + call.url, isHeavy: HEAVY.has(path) },
  ]);
  return Object.fromEntries(named) as Record<HealthyPath, BystanderCall>;
}

export async function openNeighbourhood(): Promise<Neighbourhood> {
  const network = await startHostileNetwork();
  // The live source of sessions. Test keys use the installation's own.
  const source = await startSandbox({ host: '127.0.0.1', port: 0, upstreams: createSandboxUpstreams() });
  const temporary = mkdtempSync(join(tmpdir(), 'tollgate-neighbours-'));
  const installation = await openOwnInstallation({
    ...network.env,
    TMPDIR: temporary,
    GST_LINK_URL: `${source.url}/identity/gst`,
    SEO_SEARXNG_URL: `${source.url}/seo-searxng`,
    SEO_TRANCO: 'false',
    SEO_DUCKDUCKGO: 'false',
    SEO_GOOGLE_SUGGEST: 'false',
  });
  const { instance } = installation;
  mkdirSync(temporary, { recursive: true });
  const [apk, picture] = await Promise.all([buildApk(), disc()]);
  const newKey: Neighbourhood['newKey'] = (options) => installation.createKey({ mode: 'live', ...LIMITS, ...options });
  const bystander = startBystander();
  return {
    installation,
    network,
    bystander,
    apk,
    newKey,
    async calls(...paths) {
      const { key } = await newKey({ products: PRODUCTS });
      const calls = healthyCalls(installation.gatewayUrl, key, { apk, picture });
      return paths.map((path) => calls[path]);
    },
    footprint: () => readFootprint(instance.supervisor.pid ?? 0, [instance.dataDir, temporary]),
    async close() {
      bystander.close();
      await installation.close();
      await source.close();
      await network.close();
      rmSync(temporary, { recursive: true, force: true });
    },
  };
}
