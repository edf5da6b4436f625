import { type FieldRow, fieldOf, fieldsOf } from '../reference/schema-fields';
import { type Operation, successOf } from './operations';

/** What goes into one place of a call. */
export interface FieldTable {
  readonly caption: string;
  readonly rows: readonly FieldRow[];
}

type Content = NonNullable<Operation['requestBody']>['content'];

/** Of the first shape that has members. */
function fieldsIn(content: Content = {}): readonly FieldRow[] {
  return (
    Object.values(content)
      .map(({ schema }) => (schema ? fieldsOf(schema) : []))
      .find((rows) => rows.length > 0) ?? []
  );
}

const PLACES = { path: 'Path', query: 'Query', header: 'Headers', cookie: 'Cookies' } as const;

/** All that a call takes, by where it stands. Places without anything are left out. */
export function inputTables({ parameters = [], requestBody }: Operation): readonly FieldTable[] {
  const placed = (Object.keys(PLACES) as (keyof typeof PLACES)[]).map((place) => ({
    caption: PLACES[place],
    rows: parameters
      .filter((each) => each.in === place)
      .map(({ name, schema, description, required }) =>
        fieldOf(name, { ...schema, description: description ?? schema.description }, required ?? false),
      ),
  }));
  const body = { caption: `Body, as ${Object.keys(requestBody?.content ?? {}).join(' or ')}`, rows: fieldsIn(requestBody?.content) };
  return [...placed, body].filter(({ rows }) => rows.length > 0);
}

/** What a success holds. */
export const answerRows = (operation: Pick<Operation, 'responses'>): readonly FieldRow[] => fieldsIn(successOf(operation)?.content);

/** What is said above the example of a success. */
export function sampleCaption(operation: Pick<Operation, 'responses'>): string {
  const success = successOf(operation);
  if (!success?.sample) return '';
  const { isMade, description } = success.sample;
  const kind = isMade ? `Form of a ${success.status} response, made from its schema` : `Sample response, ${success.status}`;
  return description === undefined ? kind : `${kind}. ${description}`;
}
