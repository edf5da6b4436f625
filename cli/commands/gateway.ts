import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Command } from 'commander';
import { GATEWAY_KINDS, type GatewayKind, type GatewayPlaces } from '../../kong/gateways/render';
import { type ReadOn } from '../../plugins/core/problems';
import { readOnSettings } from '../../plugins/core/read-on';
import { readSettings } from '../../plugins/core/settings';
import { gatewayFiles, routeFiles } from '../../kong/gateways/write/gateway-files';
import { UnwritableRoute } from '../../kong/gateways/write/guarded-routes';
import { dataFolder, socketPath } from '../supervisor/data-folder';
import { readState } from '../supervisor/instance-state';
import { type CommandContext, finishCommand } from './command-context';
import { CommandError } from '../command-error';
import { type KongFlags, writeForKong, type WrittenKong } from './gateway-kong';
import { here } from './here';
import { readKongYml } from './kong-yml';

const HELP = `
Writes what the gateway needs in front of the products of kong.yml: its routes, and the files that guard them. After product new, product remove
or a change in kong.yml, run the command again and reload the gateway. For kong it writes what a Kong that you run needs: lines of kong.conf, which
--conf merges with yours, the block for a route, which --route puts into a copy of yours, how to run the plugin server, and an error page with the
brand of the folder that TOLLGATE_CONFIG names.

Example:
  npx tollgate gateway nginx /etc/nginx/tollgate
  npx tollgate gateway kong /etc/kong/tollgate --conf /etc/kong/kong.conf --kong-yml /etc/kong/kong.yml --route orders
  npx tollgate check nginx /etc/nginx/nginx.conf`;

/** How to include the files in an existing configuration, and how to run them alone. */
const NEXT: Readonly<Record<GatewayKind, (folder: string) => string[]>> = {
  nginx: nginxNext,
  'nginx-lua': nginxNext,
  caddy: (folder) => [`caddy run --adapter caddyfile --config ${join(folder, 'Caddyfile')}`],
  haproxy: (folder) => [`cd ${folder} && haproxy -f haproxy.cfg -f routes.cfg`],
};

function nginxNext(folder: string): string[] {
  const include = (name: string): string => `include ${join(folder, name)};`;
  return [
    `in the http block: ${include('authorizer.conf')} ${include('upstreams.conf')}`,
    `in a server block: ${include('server.conf')} ${include('routes.conf')}`,
    `or alone: nginx -c ${join(folder, 'nginx.conf')}`,
  ];
}

type SocketName = Parameters<typeof socketPath>[1];

/** Addresses of the plugin server that runs here; otherwise those in the shipped files. */
function runningPlaces({ root, env, isSameProcess }: CommandContext, socket: SocketName): Pick<GatewayPlaces, 'socketPath' | 'answersTo'> {
  const state = readState(dataFolder(root, env));
  if (!state || !isSameProcess(state.supervisor)) return {};
  const metrics = state.metrics['plugin-server'];
  return {
    socketPath: socketPath(state.dataDir, socket),
    ...(metrics !== undefined && { answersTo: new URL(metrics).host }),
  };
}

/** Pages that explain refusals: at the dashboard that the environment names, otherwise at the one that runs here. */
function readOnOf({ root, env, isSameProcess }: CommandContext): ReadOn {
  const state = readState(dataFolder(root, env));
  const running = state && isSameProcess(state.supervisor) ? state.dashboard : null;
  const given = { ...env, DASHBOARD_URL: env['DASHBOARD_URL'] || (running ?? '') };
  return readSettings({ readOn: readOnSettings }, given).readOn;
}

const KINDS = ['kong', ...GATEWAY_KINDS] as const;

function parseKind(text: string): (typeof KINDS)[number] {
  const kind = KINDS.find((each) => each === text);
  if (!kind) throw new CommandError('invalid_argument', `the gateway is one of ${KINDS.join(', ')}; Envoy: docs/gateways.md`);
  return kind;
}

interface Target {
  readonly kind: GatewayKind;
  readonly folder: string;
  /** The socket's path as given. */
  readonly socket: string | undefined;
}

function textsOf(context: CommandContext, { kind, folder, socket }: Target): Record<string, string> {
  try {
    return gatewayFiles({
      kind,
      folder,
      kongYml: readKongYml(context),
      shipped: join(context.root, 'kong'),
      luaFolder: folder,
      readOn: readOnOf(context),
      ...runningPlaces(context, kind === 'nginx-lua' ? 'lane.sock' : 'forward-auth.sock'),
      ...(socket !== undefined && { socketPath: socket }),
    });
  } catch (error) {
    if (error instanceof UnwritableRoute) throw new CommandError('invalid_argument', error.message, { cause: error });
    throw error;
  }
}

interface GatewayFlags extends KongFlags {
  readonly socket?: string;
}

function writeForOther(context: CommandContext, target: Target): WrittenKong {
  const { folder } = target;
  const texts = textsOf(context, target);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(join(folder, `${name}.new`), text);
    renameSync(join(folder, `${name}.new`), join(folder, name));
  }
  return { files: Object.keys(texts), next: NEXT[target.kind](folder), notes: [] };
}

function write(context: CommandContext, word: string, { folder, flags }: { folder: string; flags: GatewayFlags }): WrittenKong {
  const kind = parseKind(word);
  const { socket } = flags;
  if (kind !== 'kong') return writeForOther(context, { kind, folder, socket });
  const places = runningPlaces(context, flags.lane === true ? 'lane.sock' : 'plugin.sock');
  return writeForKong(context, folder, {
    ...flags,
    ...places,
    readOn: readOnOf(context),
    ...(socket !== undefined && { socketPath: socket }),
  });
}

/** `tollgate gateway` */
export function addGatewayCommand(program: Command, context: CommandContext): void {
  finishCommand(
    program
      .command('gateway')
      .description('write the configuration of nginx, Caddy or HAProxy from kong.yml, or the files that your own Kong needs'),
  )
    .argument('<kind>', KINDS.join(', '))
    .argument('<dir>', 'where its files go')
    .option('--socket <path>', 'where the plugin server listens for this gateway (default: the running instance’s)')
    .option('--conf <file>', 'kong: your kong.conf; a merged copy is written, and yours stays unchanged')
    .option('--kong-yml <file>', 'kong: your kong.yml')
    .option('--route <name>', 'kong: the route that gets the plugin, in a copy of your kong.yml')
    .option('--product <id>', 'kong: the product that is sold on it (default: the route’s name)')
    .option('--lane', 'kong: use the plugin in Lua, which asks in one exchange')
    .addHelpText('after', HELP)
    .action((word: string, dir: string, flags: GatewayFlags) => {
      const folder = resolve(here(context.env), dir);
      const { files, next, notes } = write(context, word, { folder, flags });
      context.output.result({ folder, files, next, notes }, () =>
        [`${folder}: written ${files.join(', ')}`, ...next.map((line) => `  ${line}`), ...notes.map((note) => `· ${note}`)].join('\n'),
      );
    });
}

/** Routes in the files of a folder that no longer match kong.yml. */
export function findStaleRoutes(context: CommandContext, gateway: string, file: string): string[] {
  const kinds = GATEWAY_KINDS.filter((kind) => kind.startsWith(gateway));
  const folder = dirname(resolve(file));
  return [folder, join(folder, 'tollgate')].flatMap((each) => {
    const written = kinds.map((kind) => routeFiles({ kind, folder: each, kongYml: readKongYml(context) }));
    return Object.keys(written[0] ?? {}).flatMap((name) => {
      const there = read(join(each, name));
      const isTrue = there === undefined || written.some((files) => withoutHead(files[name]) === withoutHead(there));
      return isTrue ? [] : [`${basename(each)}/${name} does not match kong.yml: npx tollgate gateway ${gateway} ${each} rewrites it`];
    });
  });
}

/** Removes the first line, which names the kind of gateway. */
const withoutHead = (text: string | undefined): string | undefined => text?.slice(text.indexOf('\n'));

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
