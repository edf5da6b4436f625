import { readFile } from 'node:fs/promises';
import { isNativeError } from 'node:util/types';
import { type Command } from 'commander';
import { Reader, type Response } from 'maxmind';
import { z } from 'zod';
import { booleanSetting, listSetting } from '../../plugins/core/settings';
import { openDatabases } from '../../services/products/ip/ip-databases';
import { openAddressLists } from '../../services/products/ip/lists/address-lists';
import { LIST_DEFINITIONS, type ListDefinition } from '../../services/products/ip/lists/list-definitions';
import { type KeptList, listPath, parseListFile } from '../../services/products/ip/lists/list-file';
import { type FlagAccuracy, measureFlags } from '../../services/products/ip/lists/measure-flags';
import { updateList } from '../../services/products/ip/lists/update-list';
import { countNetworks, parseBootstrap, RDAP_SERVERS, rdapServersPath } from '../../services/products/ip/rdap/rdap-servers';
import { updateRdapServers } from '../../services/products/ip/rdap/update-rdap-servers';
import { TABLES, type TableId, tablePath, updateTable } from '../../services/products/ip/tables/update-table';
import { parseIndiaFile, updateIndiaFile } from '../../services/products/pincode/india-file';
import { lookUpAddress } from '../../services/products/ip/look-up-address';
import { databasePaths, ipSettings } from '../../services/products/ip/settings';
import { dataFolder, indiaFile, listsFolder } from '../supervisor/data-folder';
import { type CommandContext, finishCommand } from './command-context';
import { CommandError } from '../command-error';
import { table } from './output';

const EXAMPLES = `
Examples:
  npx tollgate data update                           every list that IP_LISTS_OFF does not name, and tables with IP_CITY_SOURCE, IP_ASN_SOURCE
  npx tollgate data update india_pins --from FILE --as-of 2026-03-11   postal codes of India: IN.txt of GeoNames, a file or URL
  npx tollgate data update city --from FILE          a table of places, as an MMDB file or URL, also gzipped; {month} stands for the present month
  npx tollgate data update tor_exits                 one list; the Tor Project allows one fetch an hour
  npx tollgate data update rdap_servers              IANA's list of registry servers; with IP_RDAP=on every update fetches it
  npx tollgate data measure                          for each list, how many of its addresses are flagged, with and without the lists
  npx tollgate data list

Running services load new data within IP_DATABASE_POLL_SECONDS. When a list or table cannot be fetched or has an unexpected form, the
previous one stays in use.`;

interface Outcome {
  readonly list: string;
  readonly networks: number | null;
  /** RFC 3339; null when there is none. */
  readonly as_of: string | null;
  readonly says: string;
  readonly licence: string;
  /** Reason why it could not be updated. */
  readonly error?: string;
}

function folderOf({ root, env }: CommandContext): string {
  return env['IP_LISTS_FOLDER'] || listsFolder(dataFolder(root, env));
}

function chosen(names: readonly string[], env: NodeJS.ProcessEnv): readonly ListDefinition[] {
  const known = [...LIST_DEFINITIONS.map(({ id }) => id), ...TABLES, INDIA_PINS, RDAP_SERVERS];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new CommandError('invalid_argument', `${unknown} is not a list; the lists are ${known.join(', ')}`);
  const off = listSetting().parse(env['IP_LISTS_OFF'] ?? '');
  return LIST_DEFINITIONS.filter(({ id }) => (names.length > 0 ? names.includes(id) : !off.includes(id)));
}

async function readKept(folder: string, id: string): Promise<KeptList | undefined> {
  try {
    return parseListFile(await readFile(listPath(folder, id)));
  } catch {
    return undefined;
  }
}

async function describe(definition: ListDefinition, folder: string): Promise<Outcome> {
  const kept = await readKept(folder, definition.id);
  const { id: list, says, licence } = definition;
  return { list, networks: kept?.networks.length ?? null, as_of: kept?.asOf.toISOString() ?? null, says, licence };
}

/** True if the list of registries by address is needed: when it is named, or when registries are queried. */
function wantsServers(names: readonly string[], env: NodeJS.ProcessEnv): boolean {
  return names.length > 0
    ? names.includes(RDAP_SERVERS)
    : booleanSetting()
        .default(false)
        .parse(env['IP_RDAP'] || undefined);
}

async function describeServers(folder: string): Promise<Outcome> {
  const common = { list: RDAP_SERVERS, says: 'servers to ask', licence: 'none stated (IANA)' };
  try {
    const servers = parseBootstrap(await readFile(rdapServersPath(folder), 'utf8'));
    return { ...common, networks: countNetworks(servers), as_of: new Date(servers.publication).toISOString() };
  } catch {
    return { ...common, networks: null, as_of: null };
  }
}

async function updateServers(folder: string, mirror: string | undefined): Promise<Outcome> {
  try {
    await updateRdapServers({ folder, mirror, nowMs: Date.now() });
    return await describeServers(folder);
  } catch (error) {
    return { ...(await describeServers(folder)), error: reasonOf(error) };
  }
}

/** The source of a table: from the command line if given there, otherwise from the environment. */
function sourceOf(id: TableId, env: NodeJS.ProcessEnv): string | undefined {
  return env[id === 'city' ? 'IP_CITY_SOURCE' : 'IP_ASN_SOURCE'] || undefined;
}

async function describeTable(id: TableId, folder: string): Promise<Outcome> {
  const common = { list: id, networks: null, says: id === 'city' ? 'place' : 'network', licence: 'of its maker' };
  try {
    const { metadata } = new Reader<Response>(await readFile(tablePath(folder, id)));
    return { ...common, as_of: metadata.buildEpoch.toISOString() };
  } catch {
    return { ...common, as_of: null };
  }
}

async function renewTable(id: TableId, folder: string, source: string | undefined): Promise<Outcome> {
  try {
    if (source === undefined) throw new Error('name its source with --from, IP_CITY_SOURCE or IP_ASN_SOURCE');
    await updateTable(id, { folder, source, nowMs: Date.now() });
    return await describeTable(id, folder);
  } catch (error) {
    return { ...(await describeTable(id, folder)), error: reasonOf(error) };
  }
}

const INDIA_PINS = 'india_pins';

function indiaFileOf({ root, env }: CommandContext): string {
  return env['PINCODE_INDIA_PINS'] || indiaFile(dataFolder(root, env));
}

async function describePins(path: string): Promise<Outcome> {
  const common = { list: INDIA_PINS, says: 'post offices', licence: 'CC BY 4.0 (GeoNames)' };
  try {
    const { pins, asOf } = await parseIndiaFile(await readFile(path));
    return { ...common, networks: pins, as_of: asOf?.toISOString() ?? null };
  } catch {
    return { ...common, networks: null, as_of: null };
  }
}

async function renewPins(path: string, source: string | undefined, asOf: Date | undefined): Promise<Outcome> {
  try {
    if (source === undefined) throw new Error('name their source with --from');
    await updateIndiaFile({ path, source, asOf, nowMs: Date.now() });
    return await describePins(path);
  } catch (error) {
    return { ...(await describePins(path)), error: reasonOf(error) };
  }
}

function readDay(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const day = z.iso.date().safeParse(text);
  if (!day.success) throw new CommandError('invalid_argument', '--as-of must be a day such as 2026-03-11');
  return new Date(day.data);
}

/** The named tables; without names, all tables whose source is set. */
function chosenTables(names: readonly string[], env: NodeJS.ProcessEnv): readonly TableId[] {
  return TABLES.filter((id) => (names.length > 0 ? names.includes(id) : sourceOf(id, env) !== undefined));
}

/** `--from` is either one table's file or URL, or the mirror of all lists. */
function checkFrom(from: string, names: readonly string[]): void {
  const isTable = [...TABLES, INDIA_PINS].some((id) => names.includes(id));
  if (isTable && names.length > 1) throw new CommandError('invalid_argument', 'with --from, name a single table');
  if (!isTable && !/^https?:\/\//.test(from)) throw new CommandError('invalid_argument', '--from must be an http or https URL');
}

/** The cause, because it says more than `fetch failed`. */
function reasonOf(error: unknown): string {
  if (!isNativeError(error)) return 'unknown';
  return isNativeError(error.cause) ? `${error.message}: ${error.cause.message}` : error.message;
}

async function update(definition: ListDefinition, folder: string, mirror: string | undefined): Promise<Outcome> {
  try {
    await updateList(definition, { folder, mirror, nowMs: Date.now() });
    return await describe(definition, folder);
  } catch (error) {
    return { ...(await describe(definition, folder)), error: reasonOf(error) };
  }
}

function show(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ list, networks, as_of: asOf, says, licence, error }) => [list, networks, asOf, says, licence, error]);
  return table(['list', 'entries', 'data of', 'says', 'licence', 'not updated'], rows);
}

/** Networks sampled from each list. Both edges of each, and their neighbours, are looked up. */
const SAMPLE = 1_000;

async function measure(folder: string, env: NodeJS.ProcessEnv): Promise<FlagAccuracy[]> {
  const kept = new Map<string, KeptList>();
  for (const { id } of chosen([], env)) {
    const list = await readKept(folder, id);
    if (list) kept.set(id, list);
  }
  if (kept.size === 0) throw new CommandError('invalid_argument', 'no lists have been fetched yet; run npx tollgate data update first');
  const files = { pollMs: 0, onError: () => undefined };
  const databases = await openDatabases({ paths: databasePaths(ipSettings.parse({})), ...files });
  const lists = await openAddressLists({ folder, off: listSetting().parse(env['IP_LISTS_OFF'] ?? ''), ...files });
  const findNetworkFacts = () => Promise.resolve({ checked: [], hostname: null, listings: [], abuse: undefined });
  const deps = { databases, findNetworkFacts, mode: 'live' as const, now: () => Date.now() };
  return measureFlags({
    kept,
    lookUp: (address) => lookUpAddress(address, { ...deps, lists }),
    lookUpWithoutLists: (address) => lookUpAddress(address, deps),
    sample: SAMPLE,
  }).finally(() => {
    lists.close();
    databases.close();
  });
}

function showAccuracy(figures: readonly FlagAccuracy[]): string {
  const rows = figures.map((each) => [
    each.list,
    each.flag,
    each.listed,
    each.flagged,
    each.flagged_without_lists,
    each.unlisted,
    each.wrongly_flagged,
  ]);
  return table(['list', 'flag', 'listed', 'flagged', 'without lists', 'unlisted', 'wrongly flagged'], rows);
}

/** `tollgate data`: the lists of addresses that the service in services/products/ip can use. */
export function addDataCommands(program: Command, context: CommandContext): void {
  const { output, env, exitWith } = context;
  const group = program
    .command('data')
    .description('manage the tables, and the lists of Tor exits, VPNs, clouds and relays, that the services use');
  finishCommand(group.command('update [lists...]').description('fetch lists and tables; exit code 1 when one of them could not be fetched'))
    .option('--from <url>', 'your own mirror of the lists, or the file or URL of a table')
    .option('--as-of <day>', 'for india_pins: the day of the data, if the file does not name it')
    .addHelpText('after', EXAMPLES)
    .action(async (names: string[], { from, asOf }: { from?: string; asOf?: string }) => {
      const day = readDay(asOf);
      if (from !== undefined) checkFrom(from, names);
      const folder = folderOf(context);
      const outcomes: Outcome[] = [];
      for (const definition of chosen(names, env)) outcomes.push(await update(definition, folder, from));
      for (const id of chosenTables(names, env))
        outcomes.push(await renewTable(id, folder, (names.length > 0 && from) || sourceOf(id, env)));
      if (names.includes(INDIA_PINS)) outcomes.push(await renewPins(indiaFileOf(context), from, day));
      if (wantsServers(names, env)) outcomes.push(await updateServers(folder, from));
      output.result(outcomes, () => show(outcomes));
      if (outcomes.some(({ error }) => error !== undefined)) exitWith(1);
    });
  finishCommand(group.command('measure').description('compare the flags in responses with the lists')).action(async () => {
    const figures = await measure(folderOf(context), env);
    output.result(figures, () => showAccuracy(figures));
  });
  finishCommand(group.command('list').description('show the lists, their dates and their licences')).action(async () => {
    const outcomes = await Promise.all(LIST_DEFINITIONS.map((definition) => describe(definition, folderOf(context))));
    const tables = await Promise.all(TABLES.map((id) => describeTable(id, folderOf(context))));
    outcomes.push(...tables.filter(({ as_of: asOf, list }) => asOf !== null || chosenTables([], env).some((id) => id === list)));
    const pins = await describePins(indiaFileOf(context));
    if (pins.networks !== null) outcomes.push(pins);
    if (wantsServers([], env)) outcomes.push(await describeServers(folderOf(context)));
    output.result(outcomes, () => show(outcomes));
  });
}
