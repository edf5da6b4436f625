import { CORE_SCHEMA, load, YAMLException } from 'js-yaml';
import { type Catalogue, createCatalogue } from './catalogue';
import { CATALOGUE_BOUNDS, catalogueFile } from './catalogue-schema';
import { type CatalogueProblem, locateProblems, type PathProblem } from './locate-problems';

/** Nothing of a catalogue with a problem is used. */
export type ParsedCatalogue =
  | { readonly catalogue: Catalogue; readonly problems?: undefined }
  | { readonly catalogue?: undefined; readonly problems: readonly CatalogueProblem[] };

/** A longer list helps nobody. */
const MOST_PROBLEMS = 100;

/**
 * Reads a catalogue from YAML. Pure: who calls reads the file.
 * @param file the file's name in messages
 * @returns the catalogue, or every problem (100 at most) with its line and column, both counted from 1
 */
export function parseCatalogue(text: string, file?: string): ParsedCatalogue {
  if (Buffer.byteLength(text) > CATALOGUE_BOUNDS.bytes) {
    return { problems: [{ line: 1, column: 1, place: '', message: `is larger than ${CATALOGUE_BOUNDS.bytes / 1024 / 1024} MiB` }] };
  }
  const read = readYaml(text);
  const found = read.problems ?? findTooMany(read.value) ?? [];
  if (found.length > 0) return { problems: locateProblems(text, found).slice(0, MOST_PROBLEMS) };
  const parsed = catalogueFile.safeParse(read.value, { error: ({ input }) => (input === undefined ? 'is missing' : undefined) });
  if (parsed.success) {
    const lines = parsed.data.products.map(({ id }, index) => [id, read.lineOf?.(index) ?? 1] as const);
    const source = file === undefined ? undefined : { file, lines: Object.fromEntries(lines) };
    return { catalogue: createCatalogue(parsed.data.products, source) };
  }
  const problems = parsed.error.issues.flatMap((issue): PathProblem[] =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key], message: 'there is no such member', isName: true }))
      : [{ path: issue.path, message: issue.message }],
  );
  return { problems: locateProblems(text, problems).slice(0, MOST_PROBLEMS) };
}

interface ReadYaml {
  readonly value?: unknown;
  /** Of a product by its place in the list; counted from 1. */
  readonly lineOf?: (index: number) => number | undefined;
  readonly problems?: readonly PathProblem[];
}

/** A product lies in the list of products, and that in the file. */
const LIST_DEPTH = 2;

/** js-yaml reads a megabyte in 0.1 s where the `yaml` package, which knows every place, takes 1.5 s: that one is asked for places only. */
function readYaml(text: string): ReadYaml {
  try {
    const begun: number[] = [];
    const lines = new Map<unknown, number>();
    const value = load(text, {
      schema: CORE_SCHEMA,
      listener(event, state) {
        if (event === 'open') return void begun.push(state.line + 1);
        const line = begun.pop();
        const result: unknown = state.result;
        if (begun.length === LIST_DEPTH && line !== undefined) lines.set(result, line);
      },
    });
    const products = memberOf(value, 'products');
    return { value, lineOf: (index) => (Array.isArray(products) ? lines.get(products[index]) : undefined) };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return { problems: [{ path: [], message: error.reason, offset: error.mark?.position }] };
  }
}

/** Before anything walks the lists: a short text can name the same list a million times. */
function findTooMany(file: unknown): PathProblem[] | undefined {
  const products = memberOf(file, 'products');
  if (!Array.isArray(products)) return undefined;
  const { products: mostProducts, plans, routes } = CATALOGUE_BOUNDS;
  if (products.length > mostProducts) return [{ path: ['products'], message: `has more than ${mostProducts} products` }];
  const tooMany = products.flatMap((product: unknown, index): PathProblem[] =>
    (['plans', 'routes'] as const).flatMap((name) => {
      const list = memberOf(product, name);
      const most = name === 'plans' ? plans : routes;
      return Array.isArray(list) && list.length > most
        ? [{ path: ['products', index, name], message: `has more than ${most} ${name}` }]
        : [];
    }),
  );
  return tooMany.length > 0 ? tooMany : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
