import { type FieldSchema } from '../contract/api-document';
import { type FieldRow, fieldOf, fieldsOf } from '../reference/schema-fields';
import { type Operation, successOf } from './operations';

/** What goes into one place of a call. */
export interface FieldTable {
  readonly caption: string;
  /** Rows of each of its shapes. */
  readonly rows: readonly FieldRow[];
  /** What more each shape has, by the value that stands for it. */
  readonly variants: readonly { readonly value: string; readonly rows: readonly FieldRow[] }[];
}

type Content = NonNullable<Operation['requestBody']>['content'];
type Fields = Omit<FieldTable, 'caption'>;

/** The shapes that a discriminator tells apart, of a value or of the entries of a list. */
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

/** All that a call takes, by where it stands. Places without anything are left out. */
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

/** What a success holds, if the document says it. */
export function answerTable(operation: Pick<Operation, 'responses'>): FieldTable | undefined {
  const fields = contentFields(successOf(operation)?.content);
  return hasFields(fields) ? { caption: 'Response', ...fields } : undefined;
}

/** What is said above the example of a success. */
export function sampleCaption(operation: Pick<Operation, 'responses'>): string {
  const success = successOf(operation);
  if (!success?.sample) return '';
  const { isMade, description } = success.sample;
  const kind = isMade ? `Form of a ${success.status} response, made from its schema` : `Sample response, ${success.status}`;
  return description === undefined ? kind : `${kind}. ${description}`;
}
