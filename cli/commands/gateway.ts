import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Command } from 'commander';
import { GATEWAY_KINDS, type GatewayKind, type GatewayPlaces } from '../../kong/gateways/render';
import { gatewayFiles, routeFiles } from '../../kong/gateways/write/gateway-files';
import { UnwritableRoute } from '../../kong/gateways/write/guarded-routes';
import { brandSettings, readBrand } from '../../services/dashboard/brand/brand';
import { gatewayErrorPage } from '../../services/dashboard/storefront/gateway-error-page';
import { dataFolder, socketPath } from '../supervisor/data-folder';
import { readState } from '../supervisor/instance-state';
import { type CommandContext, finishCommand } from './command-context';
import { CommandError } from '../command-error';
import { here } from './here';
import { readKongYml } from './read-kong-yml';

const HELP = `
Writes what the gateway needs in front of the products of kong.yml: its routes, and the files that guard them. After product new, product remove
or a change in kong.yml, run the command again and reload the gateway. Kong reads kong.yml itself; for kong the command writes Kong's error page,
with the brand of the folder that TOLLGATE_CONFIG names.

Example:
  npx tollgate gateway nginx /etc/nginx/tollgate
  npx tollgate gateway kong shop
  npx tollgate check nginx /etc/nginx/nginx.conf`;

/** What includes the files in a configuration that there is already, and what runs them alone. */
const NEXT: Readonly<Record<GatewayKind | 'kong', (folder: string) => string[]>> = {
  kong: (folder) => [`error_template_html = ${join(folder, 'problem.html')}`, `in kong.conf, or as the variable KONG_ERROR_TEMPLATE_HTML`],
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

/** Of the plugin server that runs here; else as the shipped files name it. */
function runningPlaces({ root, env, isSameProcess }: CommandContext, kind: GatewayKind): Pick<GatewayPlaces, 'socketPath' | 'answersTo'> {
  const state = readState(dataFolder(root, env));
  if (!state || !isSameProcess(state.supervisor)) return {};
  const metrics = state.metrics['plugin-server'];
  return {
    socketPath: socketPath(state.dataDir, kind === 'nginx-lua' ? 'lane.sock' : 'forward-auth.sock'),
    ...(metrics !== undefined && { answersTo: new URL(metrics).host }),
  };
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
  /** As it was written. */
  readonly socket: string | undefined;
}

/** What Kong answers by itself, with the brand of what is sold. */
function kongTexts({ env }: CommandContext): Record<string, string> {
  const { data, error } = brandSettings.safeParse(env);
  if (!data) throw new CommandError('invalid_argument', error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '));
  return { 'problem.html': gatewayErrorPage(readBrand(data)) };
}

function textsOf(context: CommandContext, { kind, folder, socket }: Target): Record<string, string> {
  try {
    return gatewayFiles({
      kind,
      folder,
      kongYml: readKongYml(context),
      shipped: join(context.root, 'kong'),
      luaFolder: folder,
      ...runningPlaces(context, kind),
      ...(socket !== undefined && { socketPath: socket }),
    });
  } catch (error) {
    if (error instanceof UnwritableRoute) throw new CommandError('invalid_argument', error.message, { cause: error });
    throw error;
  }
}

/** `tollgate gateway` */
export function addGatewayCommand(program: Command, context: CommandContext): void {
  finishCommand(
    program.command('gateway').description('write the configuration of nginx, Caddy or HAProxy from kong.yml, or Kong’s error page'),
  )
    .argument('<kind>', KINDS.join(', '))
    .argument('<dir>', 'where its files go')
    .option(
      '--socket <path>',
      'FORWARD_AUTH_LISTEN of the plugin server, or for nginx-lua LANE_LISTEN (default: that of the running instance)',
    )
    .addHelpText('after', HELP)
    .action((word: string, dir: string, { socket }: { socket?: string }) => {
      const kind = parseKind(word);
      const folder = resolve(here(context.env), dir);
      const texts = kind === 'kong' ? kongTexts(context) : textsOf(context, { kind, folder, socket });
      mkdirSync(folder, { recursive: true });
      for (const [name, text] of Object.entries(texts)) {
        writeFileSync(join(folder, `${name}.new`), text);
        renameSync(join(folder, `${name}.new`), join(folder, name));
      }
      const next = NEXT[kind](folder);
      const files = Object.keys(texts);
      context.output.result({ folder, files, next }, () =>
        [`${folder}: written ${files.join(', ')}`, ...next.map((line) => `  ${line}`)].join('\n'),
      );
    });
}

/** Of a folder beside a configuration, what does not say what kong.yml says any more. */
export function findStaleRoutes(context: CommandContext, gateway: string, file: string): string[] {
  const kinds = GATEWAY_KINDS.filter((kind) => kind.startsWith(gateway));
  const folder = dirname(resolve(file));
  return [folder, join(folder, 'tollgate')].flatMap((each) => {
    const written = kinds.map((kind) => routeFiles({ kind, folder: each, kongYml: readKongYml(context) }));
    return Object.keys(written[0] ?? {}).flatMap((name) => {
      const there = read(join(each, name));
      const isTrue = there === undefined || written.some((files) => withoutHead(files[name]) === withoutHead(there));
      return isTrue ? [] : [`${basename(each)}/${name} is not what kong.yml says: npx tollgate gateway ${gateway} ${each} writes it anew`];
    });
  });
}

/** Its first line names the kind of gateway. */
const withoutHead = (text: string | undefined): string | undefined => text?.slice(text.indexOf('\n'));

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
