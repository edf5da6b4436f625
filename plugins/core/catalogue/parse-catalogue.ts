import { type Catalogue, createCatalogue } from './catalogue';
import { CATALOGUE_BOUNDS, catalogueFile } from './catalogue-schema';
import { type CatalogueProblem, linesOfItems, locateProblems, type PathProblem } from './locate-problems';
import { readYaml } from './read-yaml';

/** If a catalogue has a problem, nothing of it is used. */
export type ParsedCatalogue =
  | { readonly catalogue: Catalogue; readonly problems?: undefined }
  | { readonly catalogue?: undefined; readonly problems: readonly CatalogueProblem[] };

/** Maximum problems that are listed. */
const MAX_PROBLEMS = 100;

/** The problem of a catalogue that is too large to be read. */
export const TOO_LARGE: CatalogueProblem = {
  line: 1,
  column: 1,
  place: '',
  message: `is larger than ${CATALOGUE_BOUNDS.bytes / 1024 / 1024} MiB`,
};

/**
 * Reads a catalogue from YAML. Pure: the caller reads the file.
 * @param file the file's name in messages
 * @returns the catalogue, or every problem (100 at most) with its line and column, both counted from 1
 */
export function parseCatalogue(text: string, file?: string): ParsedCatalogue {
  if (Buffer.byteLength(text) > CATALOGUE_BOUNDS.bytes) return { problems: [TOO_LARGE] };
  const yaml = readYaml(text);
  if ('problems' in yaml) return { problems: yaml.problems.map((problem) => ({ ...problem, place: '' })).slice(0, MAX_PROBLEMS) };
  const tooMany = findTooMany(yaml.value);
  if (tooMany) return { problems: locateProblems(yaml, tooMany).slice(0, MAX_PROBLEMS) };
  const parsed = catalogueFile.safeParse(yaml.value, { error: ({ input }) => (input === undefined ? 'is missing' : undefined) });
  if (parsed.success) {
    const lines = linesOfItems(yaml, 'products');
    const linesById = Object.fromEntries(parsed.data.products.map(({ id }, index) => [id, lines[index] ?? 1] as const));
    const source = file === undefined ? undefined : { file, lines: linesById };
    return { catalogue: createCatalogue(parsed.data.products, { source, billing: parsed.data.billing }) };
  }
  const problems = parsed.error.issues.flatMap((issue): PathProblem[] =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key], message: 'this member does not exist', isName: true }))
      : [{ path: issue.path, message: issue.message }],
  );
  return { problems: locateProblems(yaml, problems).slice(0, MAX_PROBLEMS) };
}

/** Runs before anything walks the lists: a short text can refer to the same list a million times. */
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
