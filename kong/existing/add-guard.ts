import { isDeepStrictEqual } from 'node:util';
import { isMap, isScalar, isSeq, type Document, parseDocument, stringify, type YAMLMap } from 'yaml';
import { AS_KONG_READS } from '../as-kong-reads';

/** Kong's plugin in the form of kong.yml. */
export interface GuardBlock {
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The block cannot be added to the route; the message says why. */
export class UnguardableRoute extends Error {}

/**
 * Adds the plugin to one route of the reader's kong.yml. Comments and everything else stay.
 * @returns the file's new text; unchanged if the route already has the plugin
 * @throws UnguardableRoute
 */
export function addGuard(kongYml: string, routeName: string, block: GuardBlock): string {
  const document = parseDocument(kongYml, AS_KONG_READS);
  const [error] = document.errors;
  if (error) throw new UnguardableRoute(`kong.yml cannot be read: ${error.message}`);
  const routes = findRoutes(document.contents);
  const route = routes.find((each) => each.get('name') === routeName);
  if (!route) {
    throw new UnguardableRoute(`kong.yml has no route ${routeName}; it has ${namesOf(routes).join(', ') || 'none with a name'}`);
  }
  const plugins = route.get('plugins');
  if (isSeq(plugins) && plugins.items.some((plugin) => isMap(plugin) && plugin.get('name') === block.name)) return kongYml;
  const text = splice(kongYml, route, block) ?? rewrite(document, route, block);
  // A shared anchor, for example, would add it in another place too.
  if (!isDeepStrictEqual(withoutGuard(text, routeName, block), withoutGuard(kongYml, routeName, block)))
    throw new UnguardableRoute(`the block cannot be added to route ${routeName} without changing another part of kong.yml; add it by hand`);
  return text;
}

/** Appends after the route's existing content, so that every other byte stays. Undefined for a route or list in flow style (brackets). */
function splice(text: string, route: YAMLMap, block: GuardBlock): string | undefined {
  const plugins = route.get('plugins');
  const list = isSeq(plugins) && plugins.items.length > 0 ? plugins : undefined;
  if (route.flow || list?.flow || (route.has('plugins') && !list)) return undefined;
  const key = route.items[0]?.key;
  const first = list ? text.lastIndexOf('-', rangeOf(list.items[0])[0]) : rangeOf(key)[0];
  const [, valueEnd] = rangeOf(list ?? route);
  if (first < 0 || valueEnd < 0) return undefined;
  const lineEnd = text[valueEnd - 1] === '\n' ? valueEnd - 1 : text.indexOf('\n', valueEnd);
  const end = lineEnd < 0 ? text.length : lineEnd;
  const indent = ' '.repeat(first - (text.lastIndexOf('\n', first) + 1));
  const lines = stringify(list ? [block] : { plugins: [block] }, { lineWidth: 0 })
    .trimEnd()
    .split('\n');
  return `${text.slice(0, end)}\n${lines.map((line) => indent + line).join('\n')}${end === text.length ? '\n' : text.slice(end)}`;
}

function rangeOf(node: unknown): readonly [number, number] {
  const range = isMap(node) || isSeq(node) || isScalar(node) ? node.range : undefined;
  return range ? [range[0], range[1]] : [-1, -1];
}

function rewrite(document: Document, route: YAMLMap, block: GuardBlock): string {
  const plugins = route.get('plugins');
  if (isSeq(plugins)) plugins.add(document.createNode(block));
  else route.set('plugins', document.createNode([block]));
  return document.toString({ lineWidth: 0 });
}

const toPlain = (document: Document): unknown => JSON.parse(JSON.stringify(document.toJS()));

/** The names of all routes, in file order. */
export function routeNames(kongYml: string): string[] {
  return namesOf(findRoutes(parseDocument(kongYml, AS_KONG_READS).contents));
}

function namesOf(routes: readonly YAMLMap[]): string[] {
  return routes.map((route) => route.get('name')).filter((name) => typeof name === 'string');
}

function findRoutes(contents: unknown): YAMLMap[] {
  const services = mapsIn(contents, 'services');
  return [...services.flatMap((service) => mapsIn(service, 'routes')), ...mapsIn(contents, 'routes')];
}

function mapsIn(node: unknown, list: string): YAMLMap[] {
  const items = isMap(node) ? node.get(list) : undefined;
  return isSeq(items) ? items.items.filter(isMap) : [];
}

interface PlainRoute {
  name?: unknown;
  plugins?: { name?: unknown }[] | null;
}
interface PlainFile {
  services?: { routes?: PlainRoute[] }[];
  routes?: PlainRoute[];
}

function withoutGuard(kongYml: string, routeName: string, { name }: GuardBlock): unknown {
  const document = parseDocument(kongYml, AS_KONG_READS);
  if (document.errors.length > 0) return undefined;
  const file = toPlain(document) as PlainFile;
  const routes = [...(file.services ?? []).flatMap((service) => service.routes ?? []), ...(file.routes ?? [])];
  const route = routes.find((each) => each.name === routeName);
  const others = (route?.plugins ?? []).filter((plugin) => plugin.name !== name);
  if (route) route.plugins = others;
  return file;
}
