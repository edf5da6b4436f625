import { type FieldSchema } from '../contract/api-document';
import { type FieldRow, fieldOf, fieldsOf } from '../reference/schema-fields';
import { type Operation, successOf } from './operations';

/** The fields in one place of a call. */
export interface FieldTable {
  readonly caption: string;
  /** Rows that all its shapes share. */
  readonly rows: readonly FieldRow[];
  /** Further rows of each shape, by its discriminator value. */
  readonly variants: readonly { readonly value: string; readonly rows: readonly FieldRow[] }[];
}

type Content = NonNullable<Operation['requestBody']>['content'];
type Fields = Omit<FieldTable, 'caption'>;

/** The shapes of a discriminator, of a value or of a list's entries. */
function variantsIn({ anyOf = [], items }: FieldSchema): readonly FieldSchema[] {
  const named = anyOf.filter((each) => each['x-variant'] !== undefined);
  return named.length > 0 || typeof items !== 'object' ? named : variantsIn(items);
}

function fieldsIn(schema: FieldSchema): Fields {
  const rows = fieldsOf(schema);
  const isList = schema.type === 'array';
  const variants = variantsIn(schema).map((variant) => {
    const own = fieldsOf(isList ? { type: 'array', items: variant } : variant);
    return { value: variant['x-variant'] ?? '', rows: own };
  });
  const ofVariants = new Set(variants.flatMap((each) => each.rows.map(({ name }) => name)));
  return { rows: rows.filter(({ name }) => !ofVariants.has(name)), variants };
}

const hasFields = ({ rows, variants }: Fields): boolean => rows.length + variants.length > 0;

/** Fields of the first shape that has members. */
function contentFields(content: Content = {}): Fields {
  const all = Object.values(content).map(({ schema = {} }) => fieldsIn(schema));
  return all.find(hasFields) ?? { rows: [], variants: [] };
}

const PLACES = { path: 'Path', query: 'Query', header: 'Headers', cookie: 'Cookies' } as const;

/** All inputs of a call, by their place. Places without fields are left out. */
export function inputTables({ parameters = [], requestBody }: Operation): readonly FieldTable[] {
  const placed = (Object.keys(PLACES) as (keyof typeof PLACES)[]).map((place) => ({
    caption: PLACES[place],
    variants: [],
    rows: parameters
      .filter((each) => each.in === place)
      .map(({ name, schema, description, required }) =>
        fieldOf(name, { ...schema, description: description ?? schema.description }, required ?? false),
      ),
  }));
  const body = { caption: `Body, as ${Object.keys(requestBody?.content ?? {}).join(' or ')}`, ...contentFields(requestBody?.content) };
  return [...placed, body].filter(hasFields);
}

/** The content of a success, if the document describes it. */
export function answerTable(operation: Pick<Operation, 'responses'>): FieldTable | undefined {
  const fields = contentFields(successOf(operation)?.content);
  return hasFields(fields) ? { caption: 'Response', ...fields } : undefined;
}

/** The caption above the example of a success. */
export function sampleCaption(operation: Pick<Operation, 'responses'>): string {
  const success = successOf(operation);
  if (!success?.sample) return '';
  const { isMade, description } = success.sample;
  const kind = isMade ? `Form of a ${success.status} response, made from its schema` : `Sample response, ${success.status}`;
  return description === undefined ? kind : `${kind}. ${description}`;
}
