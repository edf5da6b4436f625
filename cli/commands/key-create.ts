import { type Command } from 'commander';
import { type KeyMode } from '../../plugins/core/ports';
import { type IssueKeyOptions } from '../../services/selling/keys/issue-key';
import { readAppliedCatalogue } from '../../services/selling/catalogue/read-catalogue';
import { createKey, importKey } from '../../services/selling/keys/create-key';
import { readState } from '../supervisor/instance-state';
import { dataFolder } from '../supervisor/data-folder';
import { noteTestKeys } from '../test-keys';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { parseFutureInstant, parseLimit, parseMode, parseProducts, parseRuleList } from './parse-arguments';
import { showSubscriptions, summariseSubscription } from './views';
import { CommandError } from '../command-error';
import { type Catalogue } from '../../plugins/core/catalogue/catalogue';
import { firstCallOf, targetOf } from '../../services/selling/catalogue/first-call';

interface IssueFlags {
  readonly customer: string;
  readonly products: string;
  readonly plan?: string;
  readonly mode?: string;
  readonly expires?: string;
  readonly allow?: string;
  readonly daily?: string;
  readonly monthly?: string;
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
Example:
  printf %s "$OLD_KEY" | sha256sum
  npx tollgate key import --customer you@example.com --products weather --hash 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae

Customers keep the keys they have; only the hash is given, so that the key is in no shell history.`;

function addIssueOptions(command: Command): Command {
  return finishCommand(command)
    .requiredOption('--customer <email>', 'e-mail address or id of the customer')
    .requiredOption('--products <ids>', 'products the key is for, separated by commas')
    .option('--plan <name>', 'plan of the subscriptions, for example Star (default: base limits)')
    .option('--mode <mode>', 'live, or test for the sandbox (default: live)')
    .option('--expires <date>', 'when the key ends, ISO 8601 (default: never)')
    .option('--allow <rules>', 'addresses, networks and hosts that may use it (default: everyone)')
    .option('--daily <n>', 'requests a day of the subscriptions, instead of the plan’s')
    .option('--monthly <n>', 'requests a month of the subscriptions, instead of the plan’s')
    .option('--name <text>', 'what the key is for')
    .option('--no-subscribe', 'authorise the key, but do not subscribe the customer');
}

/** Checks what can be checked without a database. */
function readIssueFlags(flags: IssueFlags): IssueKeyOptions & { mode?: KeyMode } {
  const { customer, plan, mode, expires, allow, daily, monthly, name, subscribe } = flags;
  if (!subscribe && (plan ?? daily ?? monthly) !== undefined) {
    throw new CommandError('invalid_argument', '--plan, --daily and --monthly are of a subscription, and --no-subscribe makes none');
  }
  return {
    customer,
    products: parseProducts(flags.products),
    subscribe,
    actor: ACTOR,
    ...(plan !== undefined && { plan }),
    ...(mode !== undefined && { mode: parseMode(mode) }),
    ...(expires !== undefined && { expiresAt: parseFutureInstant(expires, '--expires') }),
    ...(allow !== undefined && { rules: parseRuleList(allow) }),
    ...(daily !== undefined && { daily: parseLimit(daily, '--daily') }),
    ...(monthly !== undefined && { monthly: parseLimit(monthly, '--monthly') }),
    ...(name !== undefined && { name }),
  };
}

interface FirstCallOptions {
  readonly key: string;
  readonly products: readonly string[];
  readonly catalogue: Catalogue;
  /** Undefined when GATEWAY_URL names none and no instance runs from this folder. */
  readonly gateway: string | undefined;
}

/** Lines with a curl command that is ready to run, for the first product that can be called; none when none can. */
function firstCall({ key, products, catalogue, gateway = 'http://127.0.0.1:8000' }: FirstCallOptions): string[] {
  const chosen = products.flatMap((id) => catalogue.find(id) ?? []);
  const [call] = chosen.flatMap((product) => firstCallOf(product) ?? []);
  if (!call) return [];
  const method = call.method === 'POST' ? '-X POST ' : '';
  return ['try it:', `  curl ${method}-H 'X-API-Key: ${key}' '${gateway}${targetOf(call)}'`];
}

/** `key create` and `key import`. */
export function addKeyIssuing(key: Command, context: CommandContext): void {
  addIssueOptions(key.command('create').description('make a key, and subscribe its customer to the products'))
    .addHelpText('after', EXAMPLES)
    .action(async (flags: IssueFlags) => {
      const options = readIssueFlags(flags);
      const { created, catalogue } = await withDatabase(context, async (db) => ({
        created: await createKey(db, options),
        catalogue: await readAppliedCatalogue(db),
      }));
      const subscriptions = created.subscriptions.map(summariseSubscription);
      context.output.result({ key: created.key, id: created.id, subscriptions }, () => {
        const gateway = context.env['GATEWAY_URL']?.replace(/\/+$/, '') || readState(dataFolder(context.root, context.env))?.gateway;
        const call = firstCall({ key: created.key, products: options.products, catalogue, gateway });
        const chosen = catalogue.products.filter(({ id }) => options.products.includes(id));
        const notes = options.mode === 'test' ? noteTestKeys(chosen) : [];
        const shown = `shown this once; its id is ${created.id}`;
        return [created.key, shown, '', showSubscriptions(subscriptions), '', ...call, ...notes].join('\n');
      });
    });

  addIssueOptions(key.command('import').description('take over a key of another system, by its SHA-256'))
    .requiredOption('--hash <hex>', 'SHA-256 of the key, 64 hex digits')
    .option('--last-four <text>', 'its last four characters, for display')
    .addHelpText('after', IMPORT_EXAMPLE)
    .action(async (flags: IssueFlags & { hash: string; lastFour?: string }) => {
      const { lastFour } = flags;
      const options = { ...readIssueFlags(flags), hash: flags.hash, ...(lastFour !== undefined && { lastFour }) };
      const imported = await withDatabase(context, (db) => importKey(db, options));
      const subscriptions = imported.subscriptions.map(summariseSubscription);
      context.output.result({ id: imported.id, subscriptions }, () =>
        [`imported; its id is ${imported.id}`, '', showSubscriptions(subscriptions)].join('\n'),
      );
    });
}
