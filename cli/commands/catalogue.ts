import { type Command } from 'commander';
import { type Pool } from 'pg';
import { type KongReport } from '../../kong/check/check-kong-yml';
import { noteServerPaths } from '../../kong/check/note-server-paths';
import { type Catalogue } from '../../plugins/core/catalogue/catalogue';
import { compareCatalogues, type CatalogueChange } from '../../services/selling/catalogue/compare-catalogues';
import { applyCatalogue } from '../../services/selling/catalogue/apply-catalogue';
import { countTouched, type Touched } from '../../services/selling/catalogue/count-touched';
import { writeProductDocuments } from '../../services/selling/catalogue/product-documents';
import { readAppliedCatalogue } from '../../services/selling/catalogue/read-catalogue';
import { inTransaction } from '../../plugins/stores/postgres/database';
import { type LeftOut, ownOperations } from '../../services/openapi/own-operations';
import { CatalogueError, describeProblem, readCatalogue } from '../../services/kit/read-catalogue';
import { readApiDocuments } from '../api-documents';
import { catalogueFile, configFolder, kongFile } from '../supervisor/data-folder';
import { noteTestKeys } from '../test-keys';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { nameFrom } from './here';
import { CommandError } from '../command-error';
import { judgeKongYml, readKongYml } from './kong-yml';
import { readBrand } from '../../services/dashboard/brand/brand';
import { readDocPages } from '../../services/dashboard/storefront/doc-pages';
import { findLocalRefusals, reloadGateway, type Reloaded } from './reload-gateway';

const HELP = `
catalogue.yml says what is sold; docs/catalogue.md describes it. Every gateway knows of a change within a second. An instance that npm start
runs from this folder also loads kong.yml when you apply.`;

/** For scripts, as in diff(1). */
const EXIT_CHANGES = 2;

function count(mistakes: readonly unknown[]): string {
  return mistakes.length === 1 ? 'one place' : `${mistakes.length} places`;
}

/** @throws CommandError `catalogue_invalid` with every mistake, its line and column */
function readFile({ root, env }: CommandContext): Catalogue {
  const file = catalogueFile(root, env);
  try {
    return readCatalogue(file);
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    const name = nameFrom(root, file);
    const mistakes = error.problems.map((problem) => ({ file: name, ...problem, text: describeProblem(name, problem) }));
    throw new CommandError('catalogue_invalid', `${name} cannot be used in ${count(mistakes)}; nothing was changed`, undefined, mistakes);
  }
}

/** @throws CommandError with the mistakes, if there are any */
function refuse(code: 'catalogue_differs' | 'document_unusable', message: string, mistakes: readonly string[]): void {
  if (mistakes.length === 0) return;
  throw new CommandError(
    code,
    message,
    undefined,
    mistakes.map((text) => ({ text })),
  );
}

/** Checks brand and guides, which stand beside the catalogue. The dashboard would show its default in place of unusable ones. */
function refusePages({ root, env }: CommandContext): void {
  const folder = configFolder(root, env);
  const problems = [() => readBrand({ TOLLGATE_CONFIG: folder }), () => readDocPages(folder)].flatMap((read) => {
    try {
      read();
      return [];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  });
  refuse('document_unusable', `the brand or the guides cannot be used in ${count(problems)}`, problems);
}

function refuseDifferences(problems: readonly string[]): void {
  refuse('catalogue_differs', `kong.yml and the catalogue differ in ${count(problems)}; nothing was changed`, problems);
}

async function findChanges(db: Pool, wanted: Catalogue): Promise<TouchingChange[]> {
  const changes = compareCatalogues(await readAppliedCatalogue(db), wanted);
  const touched = await countTouched(db, changes);
  return changes.map((change, index) => ({ ...change, touched: touched[index] }));
}

/** A change, with the customers who lose something by it. */
interface TouchingChange extends CatalogueChange {
  readonly touched: Touched | undefined;
}

const SIGNS: Readonly<Record<CatalogueChange['action'], string>> = { add: '+', change: '~', retire: '-' };

/** Maximum characters of a value in a line. */
const MAX_VALUE = 60;

function valueOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

function whatOf({ action, plan, fields, falls }: CatalogueChange): string {
  if (action === 'add') return plan === undefined ? 'new product' : 'new plan';
  if (action === 'retire') return plan === undefined ? 'no longer sold' : 'no longer offered; customers who have it keep it';
  return Object.entries(fields)
    .map(([name, { before, after }]) => {
      const isFall = (falls as readonly string[]).includes(name);
      return `${name} ${valueOf(before)} → ${valueOf(after)}${isFall ? ' (falls)' : ''}`;
    })
    .join(', ');
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

function whomOf({ subscriptions, customers, keys, examples }: Touched): string {
  const more = customers > examples.length ? ' …' : '';
  const who = examples.length === 0 ? '' : `: ${examples.join(', ')}${more}`;
  const withKeys = keys > 0 ? ` and ${plural(keys, 'key')}` : '';
  return `    touches ${plural(subscriptions, 'subscription')}${withKeys} of ${plural(customers, 'customer')}${who}`;
}

/** A line for each change, and another for the customers that it affects. */
function showChanges(changes: readonly TouchingChange[]): string {
  return changes
    .flatMap((change) => {
      const name = change.plan === undefined ? change.product : `${change.product}, plan ${change.plan}`;
      const line = `${SIGNS[change.action]} ${name}: ${whatOf(change)}`;
      return change.touched === undefined ? [line] : [line, whomOf(change.touched)];
    })
    .join('\n');
}

function addCheck(group: Command, context: CommandContext): void {
  finishCommand(group.command('check').description('check the catalogue, that kong.yml agrees with it, and brand and guides')).action(
    () => {
      const catalogue = readFile(context);
      const { problems, notes: kongNotes } = judgeKongYml(context, catalogue);
      refuseDifferences(problems);
      refusePages(context);
      const plans = catalogue.products.flatMap(({ plans: offered }) => offered).length;
      const products = catalogue.products.length;
      const notes = [...kongNotes, ...noteTestKeys(catalogue.products)];
      context.output.result({ ok: true, products, plans, notes }, () =>
        [`the catalogue is valid: ${products} products, ${plans} plans`, ...notes.map((note) => `· ${note}`)].join('\n'),
      );
    },
  );
}

function addDiff(group: Command, context: CommandContext): void {
  finishCommand(group.command('diff').description('show what would change, and for whom; exits with 2 if anything would')).action(
    async () => {
      const catalogue = readFile(context);
      const changes = await withDatabase(context, (db) => findChanges(db, catalogue));
      if (changes.length > 0) context.exitWith(EXIT_CHANGES);
      context.output.result({ changed: changes.length > 0, changes }, () => showChanges(changes) || 'nothing would change');
    },
  );
}

interface Applied {
  /** Path of kong.yml, relative to the project's folder. */
  readonly kong: string;
  readonly changes: readonly TouchingChange[];
  readonly leftOut: readonly LeftOut[];
  /** Oddities in kong.yml that may be intended. */
  readonly notes: KongReport['notes'];
  readonly gateway: Reloaded;
}

const kongReload = (kong: string): string => `to load ${kong} in Kong, run: kong reload`;

/** Each reason once, with all operations that have it. */
function describeLeftOut(leftOut: readonly LeftOut[]): string[] {
  const byReason = new Map<string, LeftOut[]>();
  for (const each of leftOut) {
    const key = JSON.stringify([each.product, each.reason]);
    byReason.set(key, [...(byReason.get(key) ?? []), each]);
  }
  return [...byReason.values()].flatMap((each) => {
    const calls = each.map(({ operation }) => operation).join(', ');
    return each.slice(0, 1).map(({ product, reason }) => `· ${product}: the reference leaves out ${calls}: ${reason}`);
  });
}

function describeApplied({ kong, changes, leftOut, notes, gateway }: Applied): string {
  return [
    changes.length === 0 ? 'nothing had to change' : `${showChanges(changes)}\napplied; every gateway knows within a second`,
    ...describeLeftOut(leftOut),
    ...notes.map((note) => `· ${note}`),
    gateway === 'local' ? `the gateway has loaded ${kong}` : kongReload(kong),
  ].join('\n');
}

/** Broken operations in products' own documents. */
function findLeftOut({ products }: Catalogue, documents: ReadonlyMap<string, unknown>): LeftOut[] {
  return products.flatMap(
    (product) => ownOperations(product, { document: documents.get(product.id), baseUrl: '', taken: new Set() }).leftOut,
  );
}

function addApply(group: Command, context: CommandContext): void {
  finishCommand(group.command('apply').description('apply the file, in one transaction')).action(async () => {
    const catalogue = readFile(context);
    const { changes, leftOut, notes } = await withDatabase(context, async (db) => {
      const found = await findChanges(db, catalogue);
      const retired = (await db.query<{ id: string }>('SELECT id FROM product')).rows.map(({ id }) => id);
      // Checked before any change: every product needs a route, and no route may be open.
      const report = judgeKongYml(context, catalogue, { retired });
      refuseDifferences([...report.problems, ...findLocalRefusals(context)]);
      const { documents, unusable } = await readApiDocuments(catalogue, catalogueFile(context.root, context.env));
      refuse('document_unusable', 'an OpenAPI document cannot be used; nothing was changed', unusable);
      await inTransaction(db, async (client) => {
        await applyCatalogue(client, catalogue, { actor: ACTOR });
        await writeProductDocuments(client, documents);
      });
      const notes = [...report.notes, ...noteServerPaths(readKongYml(context), documents)];
      return { changes: found, leftOut: findLeftOut(catalogue, documents), notes };
    });
    const gateway = await reloadGateway(context);
    const kong = nameFrom(context.root, kongFile(context.root, context.env));
    const result = { changed: changes.length > 0, changes, leftOut, notes, gateway, ...(gateway === 'none' && { next: kongReload(kong) }) };
    context.output.result(result, () => describeApplied({ kong, changes, leftOut, notes, gateway }));
  });
}

/** `tollgate catalogue` */
export function addCatalogueCommands(program: Command, context: CommandContext): void {
  const group = program.command('catalogue').description('the catalogue: products, limits, plans and prices').addHelpText('after', HELP);
  addCheck(group, context);
  addDiff(group, context);
  addApply(group, context);
}
