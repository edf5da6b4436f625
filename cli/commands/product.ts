import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command } from 'commander';
import { parseDocument } from 'yaml';
import { checkKongYml } from '../../kong/check/check-kong-yml';
import { PRODUCT_ID } from '../../plugins/core/catalogue/catalogue';
import { parseCatalogue } from '../../plugins/core/catalogue/parse-catalogue';
import { describeProblem } from '../../services/kit/read-catalogue';
import { catalogueFile, kongFile } from '../supervisor/data-folder';
import { addToList } from './add-to-list';
import { type CommandContext, finishCommand } from './command-context';
import { CommandError } from '../command-error';
import { here, nameFrom } from './here';
import { parseLimit } from '../parse-arguments';
import { removeFromList } from './remove-from-list';
import { type Authority, describeProduct, isGrpcUrl, type NewProduct } from './new-product';

const NEW_HELP = `
Writes a block into kong.yml and an entry into catalogue.yml, in this folder if they are here, otherwise in the folder that runs or that
TOLLGATE_CONFIG names. Nothing is live before npx tollgate catalogue apply. A request for /NAME/today reaches the API as /today.

Example:
  npx tollgate product new weather --url http://127.0.0.1:9000 --daily 1000 --monthly 30000`;

const REMOVE_HELP = `
Removes the product's block from kong.yml and its entry from catalogue.yml. Customers are served until npx tollgate catalogue apply. Nothing
that customers have is deleted.`;

/** The consequences of removing a product for its subscribers. */
const STAYS =
  'keys, subscriptions, usage, statements and the audit log stay; calls get 404, and customers cannot subscribe. If the product comes back under this name, its subscriptions continue';

/** The default of the products in the specification. */
const USUAL_DAILY = 1_000;
const DAYS = 30;

interface NewFlags {
  readonly url: string;
  readonly prefix?: string;
  readonly title?: string;
  readonly description?: string;
  readonly daily?: string;
  readonly monthly?: string;
  readonly openapi?: string;
  readonly ca?: string;
}

function invalid(message: string): CommandError {
  return new CommandError('invalid_argument', message);
}

function parseUpstream(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  const address = text.replace(/\/+$/, '');
  if (isPlain && ['http:', 'https:'].includes(url.protocol)) return address;
  if (isPlain && isGrpcUrl(address) && url.host !== '' && ['', '/'].includes(url.pathname)) return address;
  throw invalid('--url is an address such as http://127.0.0.1:9000 or grpc://127.0.0.1:9000, without user, query or fragment');
}

/** @throws CommandError `invalid_argument` */
function readAuthority(file: string): Authority {
  try {
    const { raw } = new X509Certificate(readFileSync(file));
    const digest = createHash('sha256').update(raw).digest('hex');
    const id = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-4${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
    return { id, cert: readFileSync(file, 'utf8') };
  } catch {
    throw invalid(`--ca does not name a PEM certificate: ${file}`);
  }
}

function readNew(name: string, flags: NewFlags, env: NodeJS.ProcessEnv): NewProduct {
  if (!PRODUCT_ID.test(name))
    throw invalid('a product’s name has lower-case letters, digits and -, begins with a letter, and has at most 63 characters');
  const title = flags.title ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ');
  const daily = flags.daily === undefined ? undefined : parseLimit(flags.daily, '--daily');
  const monthly = flags.monthly === undefined ? undefined : parseLimit(flags.monthly, '--monthly');
  const url = parseUpstream(flags.url);
  if (isGrpcUrl(url) && flags.prefix === undefined)
    throw invalid('for a gRPC API, --prefix is the service that calls name: /PACKAGE.SERVICE');
  if (flags.ca !== undefined && !url.startsWith('https:')) throw invalid('--ca needs an https API');
  return {
    id: name,
    title,
    description: flags.description ?? `The ${title} API.`,
    url,
    prefix: flags.prefix ?? `/${name}`,
    daily: daily ?? Math.min(USUAL_DAILY, monthly ?? USUAL_DAILY),
    monthly: monthly ?? (daily ?? USUAL_DAILY) * DAYS,
    openapi: flags.openapi,
    authority: flags.ca === undefined ? undefined : readAuthority(resolve(here(env), flags.ca)),
  };
}

/** Adds an authority to kong.yml, unless it is there already. */
function withAuthority(kong: string, authority: Authority | undefined): string {
  if (authority === undefined || kong.includes(authority.id)) return kong;
  const hasList = parseDocument(kong).has('ca_certificates');
  const text = hasList ? kong : `${kong.trimEnd()}\n\nca_certificates: []\n`;
  return addToList(text, { list: 'ca_certificates', entry: { ...authority } });
}

/** The new texts of both files, checked before either is written. @throws CommandError `invalid_argument` */
function writeTexts(product: NewProduct, texts: { kong: string; catalogue: string }): { kong: string; catalogue: string } {
  const { block, entry } = describeProduct(product);
  const comment = `${product.title}: an API of its own; npx tollgate product new wrote this block.`;
  const kong = addToList(withAuthority(texts.kong, product.authority), { list: 'services', entry: block, comment });
  const catalogue = addToList(texts.catalogue, { list: 'products', entry });
  const before = parseCatalogue(texts.catalogue);
  const after = parseCatalogue(catalogue);
  const [problem] = after.problems ?? [];
  if (problem) {
    // An existing mistake is reported with its place; a mistake of this command in its own words.
    throw invalid(before.problems ? describeProblem('catalogue.yml', problem) : problem.message);
  }
  const known = new Set(checkKongYml(texts.kong, before.catalogue?.products ?? []).problems);
  const [difference] = checkKongYml(kong, after.catalogue?.products ?? []).problems.filter((each) => !known.has(each));
  if (difference !== undefined) throw invalid(`kong.yml: ${difference}`);
  return { kong, catalogue };
}

/**
 * Both files: kong.yml and the catalogue. The example catalogue belongs to the program, so it is changed only if it runs or is named.
 * @throws CommandError `no_folder`
 */
function readFiles({ root, env }: CommandContext): {
  files: { kong: string; catalogue: string };
  texts: { kong: string; catalogue: string };
} {
  if (!env['TOLLGATE_CONFIG']) {
    throw new CommandError('no_folder', 'nothing runs from here, and this is not a folder made by init; npx tollgate init DIR writes one');
  }
  const files = { kong: kongFile(root, env), catalogue: catalogueFile(root, env) };
  return { files, texts: { kong: readFileSync(files.kong, 'utf8'), catalogue: readFileSync(files.catalogue, 'utf8') } };
}

/** Replaces each file in one step. @returns their names, relative to the project's folder if they are in it */
function writeFiles(root: string, files: { kong: string; catalogue: string }, texts: { kong: string; catalogue: string }): string[] {
  for (const name of ['kong', 'catalogue'] as const) {
    writeFileSync(`${files[name]}.new`, texts[name]);
    renameSync(`${files[name]}.new`, files[name]);
  }
  return Object.values(files).map((file) => nameFrom(root, file));
}

function addNew(group: Command, context: CommandContext): void {
  finishCommand(group.command('new <name>').description('put an HTTP or gRPC API behind the gateway'))
    .requiredOption('--url <url>', 'where the API is')
    .option('--prefix <path>', 'path under which customers reach it (default: /NAME)')
    .option('--title <text>', 'name that customers see')
    .option('--description <text>', 'what it does, in one sentence')
    .option('--daily <n>', `requests a day without a plan (default: ${USUAL_DAILY})`)
    .option('--monthly <n>', `requests a month without a plan (default: ${DAYS} times --daily)`)
    .option('--ca <file>', 'PEM file of the certificate authority of an https API (default: the system’s authorities)')
    .option('--openapi <file or url>', 'OpenAPI document of the API, for the API reference')
    .addHelpText('after', NEW_HELP)
    .action((name: string, flags: NewFlags) => {
      const { root, output } = context;
      const product = readNew(name, flags, context.env);
      const { files, texts } = readFiles(context);
      const written = writeFiles(root, files, writeTexts(product, texts));
      const { id, prefix, url, daily, monthly } = product;
      const next = ['npx tollgate catalogue apply', `npx tollgate key create --customer you@example.com --products ${id}`];
      output.result({ product: { id, prefix, url, daily, monthly }, files: written, next }, () =>
        [
          `${id}: ${prefix} goes to ${url}; written to ${written.join(' and ')}`,
          ...(isGrpcUrl(url) ? ['only Kong forwards gRPC: npm start skips this product and serves the others'] : []),
          'check them, then',
          `  ${next[0]}   makes it live`,
          `  ${next[1]}   makes a key for it`,
          'test keys are refused until its catalogue entry has sandbox_url or test_keys',
        ].join('\n'),
      );
    });
}

interface Block {
  readonly name?: string;
  readonly plugins?: readonly { readonly config?: { readonly products?: readonly string[] } }[];
}

/** @throws CommandError `product_unknown`, `product_shared` */
function textsWithout(id: string, texts: { kong: string; catalogue: string }): { kong: string; catalogue: string } {
  const catalogue = removeFromList(texts.catalogue, 'products', (entry) => entry['id'] === id);
  if (catalogue === texts.catalogue) throw new CommandError('product_unknown', `there is no product "${id}" in catalogue.yml`);
  const kong = removeFromList(texts.kong, 'services', (block: Block) => {
    const admitted = (block.plugins ?? []).flatMap(({ config }) => config?.products ?? []);
    if (!admitted.includes(id)) return false;
    const others = admitted.filter((each) => each !== id);
    if (others.length === 0) return true;
    throw new CommandError(
      'product_shared',
      `the block ${block.name ?? ''} of kong.yml also admits ${others.join(', ')}: remove ${id} from it by hand`,
    );
  });
  return { kong, catalogue };
}

function addRemove(group: Command, context: CommandContext): void {
  finishCommand(group.command('remove <name>').description('remove a product from the catalogue and kong.yml'))
    .addHelpText('after', REMOVE_HELP)
    .action((name: string) => {
      const { root, output } = context;
      const { files, texts } = readFiles(context);
      const written = writeFiles(root, files, textsWithout(name, texts));
      const next = ['npx tollgate catalogue apply'];
      output.result({ product: name, files: written, stays: STAYS, next }, () =>
        [`${name}: removed from ${written.join(' and ')}`, `what stays: ${STAYS}`, `  ${next[0]}   applies the change`].join('\n'),
      );
    });
}

/** `tollgate product` */
export function addProductCommands(program: Command, context: CommandContext): void {
  const group = program.command('product').description('put an API behind the gateway, or remove it');
  addNew(group, context);
  addRemove(group, context);
}
