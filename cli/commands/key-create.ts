import { type Command, Option } from 'commander';
import { type KeyMode } from '../../plugins/core/ports';
import { type IssueKeyOptions } from '../../services/selling/keys/issue-key';
import { ensureDemoCustomer } from '../../services/selling/customers/join-customer';
import { readAppliedCatalogue } from '../../services/selling/catalogue/read-catalogue';
import { createKey, importKey, type ImportKeyOptions } from '../../services/selling/keys/create-key';
import { readState } from '../supervisor/instance-state';
import { dataFolder } from '../supervisor/data-folder';
import { noteTestKeys } from '../test-keys';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { IMPORT_LANES } from '../../services/selling/keys/import-keys';
import { importFile } from './key-import';
import { parseFutureInstant, parseList, parseMode, parseProducts, parseRuleList } from '../parse-arguments';
import { addOwnLimits, type OwnLimitFlags, readOwnLimits } from './own-limits';
import { quotaTimeZone } from './quota-time-zone';
import { showMoment, showSubscriptions, summariseSubscription } from './views';
import { CommandError } from '../command-error';
import { type Catalogue, type CatalogueProduct, refusesTestKeys } from '../../plugins/core/catalogue/catalogue';
import { firstCallOf, targetOf } from '../../services/selling/catalogue/first-call';

interface IssueFlags extends OwnLimitFlags {
  readonly customer: string;
  readonly products: string;
  readonly plan?: string;
  readonly mode?: string;
  readonly expires?: string;
  readonly allow?: string;
  readonly name?: string;
  readonly subscribe: boolean;
}

const EXAMPLES = `
Examples:
  npx tollgate key create --customer you@example.com --products weather,maps
  npx tollgate key create --customer you@example.com --products weather --plan Gold --mode test
  npx tollgate key create --customer you@example.com --products weather --expires 2027-03-31 --allow 10.0.0.0/8,*.example.com

The key is shown once. A test key works on the sandbox; a live key needs the product's live upstream.
One subscription per customer and product: a second key for a product joins it.`;

const IMPORT_EXAMPLE = `
Examples:
  npx tollgate key import kong.yml --product weather --dry-run     show what would be imported
  npx tollgate key import keys.csv --plan Star
  npx tollgate key import --customer you@example.com --products weather --hash 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae

Customers keep the keys they have. A file is a declarative file of Kong, a dump of deck, CSV with a header line
(customer,key,name,products,plan,expires_at,rules; sha256 in place of key; lists separated by spaces) or JSON lines of the same members.
Only the SHA-256 of a key is stored. Missing customers and subscriptions are created. A Kong group with the name of a product gives access to it.
A consumer whose username is not an email address becomes NAME@kong.invalid. A line that cannot be imported is named; the others are imported. Import
the same file again to continue: keys that are stored already stay as they are.`;

function needed(isNeeded: boolean, flags: string, description: string): Option {
  return new Option(flags, description).makeOptionMandatory(isNeeded);
}

function addIssueOptions(command: Command, isNeeded: boolean): Command {
  const withTerms = finishCommand(command)
    .addOption(needed(isNeeded, '--customer <email>', 'email address or id of the customer'))
    .addOption(needed(isNeeded, '--products <ids>', 'products the key is for, separated by commas'))
    .option('--plan <name>', 'plan of the subscriptions, for example Star (default: base limits)')
    .option('--mode <mode>', 'live, or test for the sandbox (default: live)')
    .option('--expires <date>', 'when the key ends, ISO 8601 (default: never)')
    .option('--allow <rules>', 'addresses, networks and hosts that may use it (default: everyone)');
  return addOwnLimits(withTerms, ' of the subscriptions')
    .option('--name <text>', 'what the key is for')
    .option('--no-subscribe', 'authorise the key, but do not subscribe the customer');
}

/** Checks the flags as far as possible without a database. */
function readIssueFlags(flags: IssueFlags, timeZone: string): IssueKeyOptions & { mode?: KeyMode } {
  const { customer, plan, mode, expires, allow, name, subscribe } = flags;
  const own = readOwnLimits(flags);
  if (!subscribe && (plan !== undefined || Object.keys(own).length > 0)) {
    throw new CommandError(
      'invalid_argument',
      '--plan, --daily, --monthly and --rate describe a subscription, and --no-subscribe makes none',
    );
  }
  return {
    customer,
    products: parseProducts(flags.products),
    subscribe,
    actor: ACTOR,
    ...(plan !== undefined && { plan }),
    ...(mode !== undefined && { mode: parseMode(mode) }),
    ...(expires !== undefined && { expiresAt: parseFutureInstant(expires, '--expires', timeZone) }),
    ...(allow !== undefined && { rules: parseRuleList(allow) }),
    ...own,
    ...(name !== undefined && { name }),
  };
}

interface FirstCallOptions {
  readonly key: string;
  readonly products: readonly string[];
  readonly catalogue: Catalogue;
  /** Undefined when GATEWAY_URL is not set and no instance runs from this folder. */
  readonly gateway: string | undefined;
}

/** Lines with a curl command that is ready to run, for the first product that can be called; empty if there is none. */
function firstCall({ key, products, catalogue, gateway = 'http://127.0.0.1:8000' }: FirstCallOptions): string[] {
  const chosen = products.flatMap((id) => catalogue.find(id) ?? []);
  const [call] = chosen.flatMap((product) => firstCallOf(product) ?? []);
  if (!call) return [];
  const method = call.method === 'POST' ? '-X POST ' : '';
  return ['try it:', `  curl ${method}-H 'X-API-Key: ${key}' '${gateway}${targetOf(call)}'`];
}

const KEY_CREATE = 'npx tollgate key create';
const idsOf = (products: readonly CatalogueProduct[]): string => products.map(({ id }) => id).join(',');

/** `key create` and `key import`. */
export function addKeyIssuing(key: Command, context: CommandContext): void {
  addIssueOptions(key.command('create').description('make a key, and subscribe its customer to the products'), true)
    .addHelpText('after', EXAMPLES)
    .action(async (flags: IssueFlags) => {
      const options = readIssueFlags(flags, quotaTimeZone(context));
      const { created, catalogue } = await withDatabase(context, async (db) => {
        await ensureDemoCustomer(db, options);
        return { created: await createKey(db, options), catalogue: await readAppliedCatalogue(db) };
      });
      const subscriptions = created.subscriptions.map(summariseSubscription);
      context.output.result({ key: created.key, id: created.id, subscriptions }, () => {
        const gateway = context.env['GATEWAY_URL']?.replace(/\/+$/, '') || readState(dataFolder(context.root, context.env))?.gateway;
        const chosen = catalogue.products.filter(({ id }) => options.products.includes(id));
        const [refusing, notes] = options.mode === 'test' ? [chosen.filter(refusesTestKeys), noteTestKeys(chosen)] : [[], []];
        const products = options.products.filter((id) => !refusing.some((product) => product.id === id));
        const call = firstCall({ key: created.key, products, catalogue, gateway });
        const live =
          refusing.length === 0 ? [] : [`for a live key: ${KEY_CREATE} --customer ${options.customer} --products ${idsOf(refusing)}`];
        const end = options.expiresAt === undefined ? '' : `; it ends ${showMoment(options.expiresAt)}`;
        const shown = `shown this once; its id is ${created.id}${end}`;
        return [created.key, shown, '', showSubscriptions(subscriptions), '', ...call, ...notes, ...live].join('\n');
      });
    });

  addKeyImport(key, context);
}

interface ImportFlags extends Partial<IssueFlags> {
  readonly hash?: string;
  readonly lastFour?: string;
  readonly product?: string;
  readonly dryRun?: boolean;
  readonly show?: string;
}

function addKeyImport(key: Command, context: CommandContext): void {
  const command = key.command('import').description('import keys from another system: a file of keys, or one key by its SHA-256');
  addIssueOptions(command.argument('[file]', 'Kong file, deck dump, CSV or JSON lines'), false)
    .option('--product <ids>', 'products for lines in the file that name none, separated by commas')
    .option('--dry-run', 'show what the import would do, without changing anything')
    .option('--show <n>', 'keep the last 4 characters of each key for display; keys below 16 characters show none')
    .option('--hash <hex>', 'SHA-256 of the one key to import, 64 hex digits (instead of a file)')
    .option('--last-four <text>', 'last four characters of that key, for display (instead of a file)')
    .addHelpText('after', IMPORT_EXAMPLE)
    .action((file: string | undefined, flags: ImportFlags) =>
      file === undefined ? importOne(context, flags) : importMany(context, file, flags),
    );
}

function readOneKey(context: CommandContext, flags: ImportFlags): ImportKeyOptions {
  const { customer, products, hash, lastFour, subscribe = true } = flags;
  if (customer === undefined || products === undefined || hash === undefined)
    throw new CommandError('invalid_argument', 'name a file, or give --customer, --products and --hash for one key');
  if ((flags.product ?? flags.dryRun ?? flags.show) !== undefined)
    throw new CommandError('invalid_argument', '--product, --dry-run and --show need a file');
  const issued = readIssueFlags({ ...flags, customer, products, subscribe }, quotaTimeZone(context));
  return { ...issued, hash, ...(lastFour !== undefined && { lastFour }) };
}

async function importOne(context: CommandContext, flags: ImportFlags): Promise<void> {
  const options = readOneKey(context, flags);
  const imported = await withDatabase(context, (db) => importKey(db, options));
  const subscriptions = imported.subscriptions.map(summariseSubscription);
  context.output.result({ id: imported.id, subscriptions }, () =>
    [`imported; its id is ${imported.id}`, '', showSubscriptions(subscriptions)].join('\n'),
  );
}

async function importMany(context: CommandContext, path: string, flags: ImportFlags): Promise<void> {
  const { product, plan, dryRun: isTrial = false, show } = flags;
  const { customer, products: listed, hash, lastFour, mode, expires, allow, daily, monthly, rate, burst, name } = flags;
  const ofOneKey = customer ?? listed ?? hash ?? lastFour ?? mode ?? expires ?? allow ?? daily ?? monthly ?? rate ?? burst ?? name;
  if (ofOneKey !== undefined || flags.subscribe === false)
    throw new CommandError('invalid_argument', 'with a file, only --product, --plan, --dry-run and --show can be given');
  if (show !== undefined && show !== '4')
    throw new CommandError('invalid_argument', '--show must be 4: more characters would give the key away');
  const timeZone = quotaTimeZone(context);
  const products = product === undefined ? [] : parseList(product);
  const defaults = { products, plan, shows: show !== undefined, nowMs: Date.now(), timeZone };
  const warn = (line: number, warning: string): void => context.output.warn(`line ${line}: ${warning}`);
  const result = await withDatabase(context, (db) => importFile(db, { path, defaults, isTrial, warn }), IMPORT_LANES);
  context.output.result(result, () => {
    const { imported, known, refused } = result;
    const sum = `${isTrial ? 'would import' : 'imported'} ${imported}, known already ${known}, refused ${refused.length}`;
    return [...refused.map(({ line, reason }) => `line ${line}: ${reason}`), sum].join('\n');
  });
  if (result.refused.length > 0) context.exitWith(1);
}
