import { FIELD_WORDS, FIELD_WORDS_OF_PATH } from '../products/own-routes/field-words';

/** @param field with where it lies, for example `filters.min_rating` */
function wordsFor(path: string, field: string): string | undefined {
  return FIELD_WORDS_OF_PATH[`${path} ${field}`] ?? FIELD_WORDS[field];
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function describeMembers(path: string, schema: unknown, place = ''): unknown {
  if (!isObject(schema) || !isObject(schema['properties'])) return schema;
  const properties = Object.entries(schema['properties']).map(([name, field]) => {
    const inside = describeMembers(path, field, `${place}${name}.`);
    const description = wordsFor(path, place + name);
    return [name, isObject(inside) && description !== undefined ? { description, ...inside } : inside];
  });
  return { ...schema, properties: Object.fromEntries(properties) as Json };
}

const INSTANT = 'RFC 3339, with its offset from UTC.';

/** Times in answers. The specification fixes the form of `timestamp`, which has no zone of its own. */
const TIMES: Readonly<Record<string, string>> = {
  timestamp: 'When the answer was made: YYYY-MM-DD HH:MM:SS, always UTC.',
  as_of: `When the source was asked, or when its data is from: ${INSTANT}`,
  expires_at: `When it ends: ${INSTANT}`,
  fetched_at: `When the source was asked: ${INSTANT}`,
  modified_at: `When the file was last changed: ${INSTANT}`,
  seen_before: `When an earlier call saw the link: ${INSTANT}`,
  verified_at: `When it was verified: ${INSTANT}`,
};

/** A schema with words for each time in it, however deep, that says nothing of itself. */
function describeTimes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(describeTimes);
  if (!isObject(schema)) return schema;
  const inside = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, describeTimes(value)]));
  if (!isObject(inside['properties'])) return inside;
  const properties = Object.entries(inside['properties']).map(([name, field]) => {
    const description = TIMES[name];
    return [name, isObject(field) && description !== undefined ? { description, ...field } : field];
  });
  return { ...inside, properties: Object.fromEntries(properties) as Json };
}

/** The paths of a document with words for every field of an input, and every time in an answer, that its schema says nothing of. */
export function describeFields<Paths extends object>(paths: Paths): Paths {
  const described = Object.entries(paths).map(([path, methods]: [string, unknown]) => {
    if (!isObject(methods)) return [path, methods];
    return [path, Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, describeOperation(path, operation)]))];
  });
  return Object.fromEntries(described) as Paths;
}

/** An operation of the document, its fields described as {@link describeFields} says. */
function describeOperation(path: string, operation: unknown): unknown {
  if (!isObject(operation)) return operation;
  const { parameters, requestBody, responses } = operation;
  const described = Array.isArray(parameters)
    ? parameters.map((each: unknown) => {
        if (!isObject(each) || !isObject(each['schema'])) return each;
        const description = wordsFor(path, String(each['name']));
        return description === undefined ? each : { ...each, schema: { description, ...each['schema'] } };
      })
    : parameters;
  const content = isObject(requestBody) && isObject(requestBody['content']) ? requestBody['content'] : {};
  const bodies = Object.entries(content).map(([type, media]) => [
    type,
    isObject(media) ? { ...media, schema: describeMembers(path, media['schema']) } : media,
  ]);
  return {
    ...operation,
    ...(described !== undefined && { parameters: described }),
    ...(responses !== undefined && { responses: describeTimes(responses) }),
    ...(isObject(requestBody) && { requestBody: { ...requestBody, content: Object.fromEntries(bodies) as Json } }),
  };
}
