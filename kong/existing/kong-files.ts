import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { REQUEST_MAP } from '../../plugins/core/access/request-variable';
import { checkKongConf } from '../check/check-kong-conf';
import { parseProperties } from '../local/config/kong-conf';
import { addGuard, type GuardBlock } from './add-guard';
import { proposePlaces } from './propose-places';
import { mergeKongConf, type NeededConf, type NeededEntry } from './merge-kong-conf';

/** The seller's own Kong, and the place of Tollgate's files for it. */
export interface ExistingKong {
  /** Absolute path of the files. */
  readonly folder: string;
  /** The folder of this version of Tollgate. */
  readonly root: string;
  /** The texts of the seller's own files. */
  readonly kongConf?: string | undefined;
  readonly kongYml?: string | undefined;
  /** Name of the route to which the block is added. */
  readonly route?: string | undefined;
  readonly product: string;
  /** True: the plugin in Lua instead of the external plugin. */
  readonly usesLane: boolean;
  readonly socketPath?: string | undefined;
  /** The plugin server's ANSWERS_LISTEN. */
  readonly answersTo?: string | undefined;
}

export interface KongFiles {
  /** Texts by path below the folder. */
  readonly files: Readonly<Record<string, string>>;
  /** Files that the seller fills in. They are never overwritten. */
  readonly templates: Readonly<Record<string, string>>;
  /** Differences between the seller's kong.conf and Tollgate's, one line each. */
  readonly notes: readonly string[];
}

/** The first line of every written file, by which a later run recognises its files. */
export const WRITTEN = '# Written by npx tollgate gateway kong: run it again after a change of your own files.';

const SOCKETS = '/var/run/tollgate';
const ANSWERS = '127.0.0.1:9514';
const LANE_FILES = 'lane/kong/plugins/tollgate';

/** Settings of Tollgate's own kong.conf that are not required. They apply to every route, so the seller decides. */
const WORTH_READING = [
  'log_level', 'nginx_http_log_format', 'proxy_access_log', 'nginx_proxy_proxy_hide_header', 'nginx_proxy_grpc_hide_header', 'nginx_proxy_add_header',
  'nginx_location_client_body_timeout', 'nginx_http_client_body_buffer_size', 'nginx_proxy_underscores_in_headers', 'nginx_http_include',
]; // prettier-ignore

/** Everything that an existing Kong needs. @throws UnguardableRoute */
export function existingKongFiles(kong: ExistingKong): KongFiles {
  const { folder, root, kongConf, kongYml, route } = kong;
  const shipped = (path: string): string => readFileSync(join(root, 'kong', path), 'utf8');
  const conf = mergeKongConf(kongConf ?? '', neededConf(kong));
  const block = guardBlock(kong);
  const lines = conf.properties.map(({ name, value }) => `${name} = ${value}`);
  const variables = conf.properties.map(({ name, value }) => `KONG_${name.toUpperCase()}=${value}`);
  const filled = (name: string): string => fill(shipped(`existing/files/${name}`), kong);
  const files: Record<string, string> = {
    'tollgate.conf': textOf([WRITTEN, ...lines, '', ...worthReading(shipped('kong.conf'), folder)]),
    'tollgate.env': textOf([WRITTEN, ...variables]),
    'route.yml': `${WRITTEN}\n${yamlOf({ plugins: [block] })}`,
    'log-maps.conf': shipped('log-maps.conf'),
    [REQUEST_MAP]: shipped(REQUEST_MAP),
    'access-layer.json': shipped('access-layer.json'),
    'tollgate-plugin-server.service': `${WRITTEN}\n${filled('tollgate-plugin-server.service')}`,
    'compose.yml': `${WRITTEN}\n${filled('compose.yml')}`,
    ...(kongConf !== undefined && { 'kong.conf': `${WRITTEN}\n${conf.text}` }),
    ...(kongYml !== undefined && route !== undefined && { 'kong.yml': `${WRITTEN}\n${addGuard(kongYml, route, block)}` }),
  };
  for (const name of kong.usesLane ? readdirSync(join(root, 'kong', 'lane')) : [])
    if (name.endsWith('.lua')) files[`${LANE_FILES}/${name}`] = shipped(`lane/${name}`);
  const kept = conf.kept.map(({ name, value }) => `kong.conf: ${name} stays yours; Tollgate would have ${value}`);
  const notes = [...proposePlaces(kongYml ?? '', route), ...(kongConf === undefined ? [] : [...kept, ...checkKongConf(conf.text)])];
  return { files, templates: { 'plugin-server.env': filled('plugin-server.env') }, notes };
}

const textOf = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
const yamlOf = (value: unknown): string => stringify(value, { lineWidth: 0 });

function pluginSocket({ socketPath, usesLane }: ExistingKong): string {
  return socketPath ?? `${SOCKETS}/${usesLane ? 'lane' : 'plugin'}.sock`;
}

function neededConf(kong: ExistingKong): NeededConf {
  const { folder, usesLane, answersTo = ANSWERS } = kong;
  const plugins = (entry: string) => ({ name: 'plugins', fallback: 'bundled', separator: ',', entry }) as const;
  if (usesLane) {
    const path = {
      name: 'lua_package_path',
      fallback: './?.lua;./?/init.lua;;',
      separator: ';',
      entry: join(folder, 'lane/?.lua'),
    } as const;
    return { entries: [plugins('tollgate'), path], settings: [] };
  }
  return {
    entries: [
      plugins('access-layer'),
      { name: 'pluginserver_names', fallback: '', separator: ',', entry: 'tollgate' },
      ...reports(folder, answersTo),
    ],
    settings: [
      { name: 'pluginserver_tollgate_socket', value: pluginSocket(kong) },
      { name: 'pluginserver_tollgate_query_cmd', value: `cat ${join(folder, 'access-layer.json')}` },
    ],
  };
}

/** Settings that report the response to each request. The lane reports it without them. */
function reports(folder: string, answersTo: string): NeededEntry[] {
  const log = `syslog:server=${answersTo},nohostname,tag=tg tollgate_answer`;
  return [
    { name: 'nginx_http_include', fallback: '', separator: '; include ', entry: join(folder, 'log-maps.conf') },
    { name: 'nginx_proxy_access_log', fallback: '', separator: '; access_log ', entry: log },
  ];
}

function guardBlock(kong: ExistingKong): GuardBlock {
  const { product, usesLane } = kong;
  const config = { products: [product], rate_limit_headers: 'gateway', enforce: false };
  return usesLane ? { name: 'tollgate', config: { ...config, socket: pluginSocket(kong) } } : { name: 'access-layer', config };
}

/** Lines of the project's kong.conf, as comments. */
function worthReading(ours: string, folder: string): string[] {
  const properties = parseProperties(ours, []);
  const lines = WORTH_READING.map((name) => `# ${name} = ${(properties.get(name) ?? '').replaceAll('/etc/kong/', `${folder}/`)}`);
  return [
    '# These change all of your routes, so they are off; kong/kong.conf of Tollgate says why it has them. The first three keep API keys that stand in',
    '# a query out of Kong’s logs; without them, accept no key there (key_in). With the three that follow, an API’s',
    '# own headers of limits and charges give way to Tollgate’s. The last two make a request cheaper and go together.',
    ...lines,
    `# error_template_html = ${join(folder, 'problem.html')}`,
  ];
}

function fill(text: string, kong: ExistingKong): string {
  const { folder, root, usesLane, answersTo = ANSWERS } = kong;
  const socket = pluginSocket(kong);
  const values: Readonly<Record<string, string>> = {
    dir: folder,
    root,
    node: process.execPath,
    pluginSocket: usesLane ? join(dirname(socket), 'plugin.sock') : socket,
    laneListen: usesLane ? `LANE_LISTEN=${socket}\n` : '',
    socketFolder: dirname(socket),
    answersTo,
  };
  return text.replaceAll(/__([a-z]+)__/gi, (mark, name: string) => values[name] ?? mark);
}
