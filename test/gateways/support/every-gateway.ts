import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { addToList } from '../../../cli/commands/add-to-list';
import { AS_KONG_READS } from '../../../kong/as-kong-reads';
import { GATEWAY_KINDS, type GatewayKind } from '../../../kong/gateways/render';
import { findOverride } from '../../../kong/local/config/upstream-override';
import { runsEveryScene } from '../../support/scenes';
import { laneSettings, startKong } from '../../support/gateway/real-kong';
import { newFolder } from '../../support/run-folder';
import { endProgram, startProgram } from '../../support/system/program';
import { sharedInstance } from '../../support/system/shared-instance';
import { startGateway } from './running-gateway';
import { openedForTests } from '../../support/opened';

const { KONG_BIN } = process.env;
if (!KONG_BIN) console.warn('skipped: KONG_BIN names no Kong; the local gateway stands in for it');

const REAL = ['kong', 'kong-lane'] as const;
type RealKind = (typeof REAL)[number];

/** Every gateway that ships; the real Kong by both entrances, where the machine has one. */
export type AnyGateway = GatewayKind | 'kong-local' | RealKind;
/** A gateway that is a program of its own: not the stand-in. */
export type RealGateway = Exclude<AnyGateway, 'kong-local'>;
/** A real Kong by both entrances, where the machine has one. */
export const REAL_KONGS: readonly RealGateway[] = KONG_BIN ? REAL : [];
export const REAL_GATEWAYS: readonly RealGateway[] = [...GATEWAY_KINDS, ...REAL_KONGS];
export const EVERY_GATEWAY: readonly AnyGateway[] = [...REAL_GATEWAYS, 'kong-local'];
/** Those that ask by the lane. */
export const LANE: readonly RealGateway[] = REAL_GATEWAYS.filter((kind) => kind === 'nginx-lua' || kind === 'kong-lane');

export interface AnyRunningGateway {
  readonly url: string;
  /** The same by TLS; only a real Kong has it. */
  readonly tlsUrl?: string;
  /** Everything that it wrote to its logs. */
  logs(): string;
  stop(): Promise<void>;
}

export interface AnyGatewayOptions {
  readonly kind: AnyGateway;
  /** Of the instance whose plugin server is asked. */
  readonly dataDir: string;
  /** The one address of all services, by their names in kong.yml. */
  readonly services: Readonly<Record<string, string>>;
  /** Its path; the example catalogue's unless given. */
  readonly kongYml?: string;
  /** Where it tells what was answered; nowhere unless given. */
  readonly answersTo?: string;
  /** Lines of kong.conf in place of those that ship; of a real Kong alone. */
  readonly settings?: Readonly<Record<string, string>>;
}

const EXAMPLE = resolve('kong/kong.yml');

interface PluginEntry {
  name: string;
  config?: object;
}
interface KongFile {
  services: { name: string; url: string; plugins?: PluginEntry[]; routes?: { plugins?: PluginEntry[] }[] }[];
  plugins?: PluginEntry[];
}

async function startRealKong(
  kind: RealKind,
  { dataDir, services, kongYml = EXAMPLE, answersTo, settings: own = {} }: AnyGatewayOptions,
): Promise<AnyRunningGateway> {
  const folder = mkdtempSync(join(tmpdir(), `tollgate-${kind}-`));
  const file = parse(readFileSync(kongYml, 'utf8'), AS_KONG_READS) as KongFile;
  for (const service of file.services) service.url = findOverride(service, services) ?? service.url;
  const plugins = [file, ...file.services, ...file.services.flatMap(({ routes = [] }) => routes)].flatMap((each) => each.plugins ?? []);
  if (kind === 'kong-lane')
    for (const plugin of plugins.filter(({ name }) => name === 'access-layer')) {
      plugin.name = 'tollgate';
      plugin.config = { ...plugin.config, socket: join(dataDir, 'lane.sock') };
    }
  const settings = kind === 'kong' ? { pluginserver_tollgate_socket: join(dataDir, 'plugin.sock') } : laneSettings(folder);
  const log = `syslog:server=${answersTo},nohostname,tag=tg tollgate_answer`;
  const access = join(folder, 'access.log');
  const told = answersTo === undefined ? { proxy_access_log: `${access} tollgate` } : { proxy_access_log: log, nginx_proxy_access_log: '' };
  const kong = await startKong({ command: KONG_BIN ?? '', folder, file, conf: 'ours', settings: { ...settings, ...told, ...own } });
  const stop = (): void => {
    kong.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    ...kong,
    logs: () =>
      [access, join(folder, 'error.log')]
        .filter((path) => existsSync(path))
        .map((path) => readFileSync(path, 'utf8'))
        .join(''),
    stop: () => Promise.resolve(stop()),
  };
}

/** The stand-in for Kong, as `npm start` runs it. */
async function startLocalKong({ dataDir, services, kongYml = EXAMPLE, answersTo }: AnyGatewayOptions): Promise<AnyRunningGateway> {
  const places = { GATEWAY_PORT: '0', PLUGIN_SOCKET: join(dataDir, 'plugin.sock') };
  const env = {
    ...places,
    KONG_YML: kongYml,
    UPSTREAM_OVERRIDES: JSON.stringify(services),
    ...(answersTo !== undefined && { ANSWERS_TO: answersTo }),
  };
  const { child, ready } = await startProgram('kong/local/main.js', { env });
  // Its logs are the instance's.
  return { url: `http://127.0.0.1:${String(ready['port'])}`, logs: () => '', stop: async () => void (await endProgram(child)) };
}

/** Starts one of them with the shipped configuration. */
export function startAnyGateway(options: AnyGatewayOptions): Promise<AnyRunningGateway> {
  const { kind, dataDir, services, kongYml = EXAMPLE, answersTo } = options;
  if (kind === 'kong-local') return startLocalKong(options);
  if (kind === 'kong' || kind === 'kong-lane') return startRealKong(kind, options);
  return startGateway({ kind, forwardAuthSocket: join(dataDir, 'forward-auth.sock'), services, kongYml, answersTo });
}

/** Gateways for scenes that are alike on all of them: `npm test` runs them on Kong, or on its stand-in, and on nginx. */
export const SOME_GATEWAYS = runsEveryScene ? EVERY_GATEWAY : EVERY_GATEWAY.filter((kind) => kind.startsWith('kong') || kind === 'nginx');

/** The shipped kong.yml with services beside its own. @returns its path */
export function kongYmlWith(...services: readonly Readonly<Record<string, unknown>>[]): string {
  const kongYml = join(newFolder(), 'kong.yml');
  const text = services.reduce((file: string, entry) => addToList(file, { list: 'services', entry }), readFileSync(EXAMPLE, 'utf8'));
  writeFileSync(kongYml, text);
  return kongYml;
}

type GatewaysOptions = Pick<AnyGatewayOptions, 'answersTo'> & {
  /** Its path; the shipped one unless given. */
  readonly kongYml?: string | ((kind: AnyGateway) => string);
  /** Where all shipped services lead. */
  readonly api: string;
  readonly kinds: readonly AnyGateway[];
};

/** Several gateways before one API, from before the tests until after them. */
export function useGateways(options: () => GatewaysOptions): ReadonlyMap<AnyGateway, AnyRunningGateway> {
  const opened = openedForTests();
  const running = new Map<AnyGateway, AnyRunningGateway>();
  beforeAll(async () => {
    const { api, kinds, kongYml = EXAMPLE, ...rest } = options();
    const { dataDir, services: shipped } = await sharedInstance();
    const services = Object.fromEntries(Object.keys(shipped).map((name) => [name, api]));
    const start = async (kind: AnyGateway): Promise<void> => {
      const file = typeof kongYml === 'string' ? kongYml : kongYml(kind);
      const starting = startAnyGateway({ kind, dataDir, services, ...rest, kongYml: file });
      running.set(kind, await opened.keep(starting));
    };
    await Promise.all(kinds.map(start));
  });
  return running;
}
