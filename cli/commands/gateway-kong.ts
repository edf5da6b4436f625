import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { routeNames, UnguardableRoute } from '../../kong/existing/add-guard';
import { existingKongFiles, type KongFiles, WRITTEN } from '../../kong/existing/kong-files';
import { type ReadOn } from '../../plugins/core/problems';
import { addReadOnForKong } from '../../kong/add-read-on';
import { PRODUCT_ID } from '../../plugins/core/catalogue/catalogue';
import { brandSettings, readBrand } from '../../services/dashboard/brand/brand';
import { gatewayErrorPage } from '../../services/dashboard/storefront/gateway-error-page';
import { type CommandContext } from './command-context';
import { CommandError } from '../command-error';
import { here } from './here';

/** Flags as given on the command line. */
export interface KongFlags {
  readonly conf?: string;
  readonly kongYml?: string;
  readonly route?: string;
  readonly product?: string;
  readonly lane?: boolean;
}

/** Addresses of the running plugin server, or those that the command line gives. */
interface Places {
  readonly socketPath?: string | undefined;
  readonly answersTo?: string | undefined;
  readonly readOn: ReadOn;
}

export interface WrittenKong {
  readonly files: readonly string[];
  readonly next: readonly string[];
  readonly notes: readonly string[];
}

/** Both Kong and a shell read such a path without quotes. */
const PLAIN_PATH = /^[\w./@+-]+$/;

/** Writes everything that an existing Kong needs into a folder. @throws CommandError; nothing is written then */
export function writeForKong(context: CommandContext, folder: string, flags: KongFlags & Places): WrittenKong {
  const { kongYml: ymlFile, conf: confFile, route, socketPath, answersTo, readOn } = flags;
  const product = flags.product ?? route ?? 'your-product';
  if (!PLAIN_PATH.test(folder)) throw new CommandError('invalid_argument', 'the folder’s path may hold letters, digits and ./_@+- only');
  if (!PRODUCT_ID.test(product)) throw new CommandError('invalid_argument', `${product} is not a product id; give one with --product`);
  if (route !== undefined && ymlFile === undefined)
    throw new CommandError('invalid_argument', '--route needs your kong.yml: --kong-yml FILE');
  const kongYml = readGiven(context, ymlFile);
  const kongConf = readGiven(context, confFile);
  const usesLane = flags.lane === true;
  const { files, templates, notes } = filesFor({
    folder,
    root: context.root,
    kongConf,
    kongYml,
    route,
    product,
    usesLane,
    socketPath,
    answersTo,
  });
  const problem = readFileSync(join(context.root, 'kong/templates/problem.json'), 'utf8');
  const pages = { 'problem.html': errorPage(context), 'problem.json': problem };
  const texts: Record<string, string> = { ...files };
  for (const [name, text] of Object.entries(pages)) texts[name] = addReadOnForKong(text, readOn);
  for (const name of Object.keys(texts)) refuseOther(join(folder, name), texts[name] ?? '');
  for (const [name, text] of Object.entries(texts)) replace(join(folder, name), text);
  const missing = Object.entries(templates).filter(([name]) => !existsSync(join(folder, name)));
  // The file will hold secrets.
  for (const [name, text] of missing) writeFileSync(join(folder, name), text, { mode: 0o600 });
  return {
    files: [...Object.keys(texts), ...missing.map(([name]) => name)],
    next: nextSteps(folder, { files, route, routes: kongYml === undefined ? [] : routeNames(kongYml) }),
    notes,
  };
}

function filesFor(kong: Parameters<typeof existingKongFiles>[0]): KongFiles {
  try {
    return existingKongFiles(kong);
  } catch (error) {
    if (error instanceof UnguardableRoute) throw new CommandError('invalid_argument', error.message, { cause: error });
    throw error;
  }
}

function readGiven({ env }: CommandContext, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(resolve(here(env), file), 'utf8');
  } catch (cause) {
    throw new CommandError('invalid_argument', `${file} cannot be read`, { cause });
  }
}

/** Responses that Kong sends itself, with the seller's brand. */
function errorPage({ env }: CommandContext): string {
  const { data, error } = brandSettings.safeParse(env);
  if (!data) throw new CommandError('invalid_argument', error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '));
  return gatewayErrorPage(readBrand(data));
}

/** The text alone shows whether one of these files was changed by the reader. */
const SHIPPED = /(^|\/)(problem\.(html|json)|(log-maps|request-map)\.conf|access-layer\.json|\w+\.lua)$/;

/** A file that this command did not write belongs to the reader. */
function refuseOther(path: string, text: string): void {
  if (!existsSync(path) || SHIPPED.test(path)) return;
  const there = readFileSync(path, 'utf8');
  if (there !== text && !there.startsWith(WRITTEN))
    throw new CommandError('invalid_argument', `${path} exists and was not written by this command: name another folder`);
}

function replace(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

interface Written {
  readonly files: Readonly<Record<string, string>>;
  readonly route: string | undefined;
  readonly routes: readonly string[];
}

function nextSteps(folder: string, { files, route, routes }: Written): string[] {
  const at = (name: string): string => join(folder, name);
  const named = routes.length === 0 ? 'one route of your kong.yml' : `one route: ${routes.join(', ')}; --route NAME does it`;
  return [
    `1. run the plugin server: fill in ${at('plugin-server.env')}, then systemctl enable --now ${at('tollgate-plugin-server.service')}, or ${at('compose.yml')}`,
    files['kong.conf'] === undefined
      ? `2. add the lines of ${at('tollgate.conf')} to kong.conf, or the variables of ${at('tollgate.env')}; --conf FILE merges them with yours`
      : `2. replace your kong.conf with ${at('kong.conf')}: it is yours with the lines of ${at('tollgate.conf')}`,
    files['kong.yml'] === undefined
      ? `3. put the block of ${at('route.yml')} on ${named}`
      : `3. replace your kong.yml with ${at('kong.yml')}: it is yours with the block of ${at('route.yml')} on the route ${route ?? ''}`,
    `4. check with KONG_YML=${files['kong.yml'] === undefined ? 'FILE' : at('kong.yml')} npx tollgate check, then restart Kong: nothing is refused yet`,
    '5. remove enforce: false once nothing would be refused that should pass; remove the block to go back (docs/operate/existing-kong.md)',
    `error_template_html = ${at('problem.html')} shows an error page with your brand, for all of your routes; error_template_json = ${at('problem.json')} says the same to programs, with the code gateway_error`,
  ];
}
