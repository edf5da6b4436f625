import { kindOf, type ParameterStyle, readValue, wellFormed, writeParameter } from './parameter-style';
import { exampleOf, exampleOfSchema, readParameter } from './example-value';
import { type Step } from './snippet-step';
import { isObject, type Json } from './document-parts';
import { isJsonType, successStatus } from './success-of';

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Headers that the gateway, the sample's key or the sample's body set. */
const NOT_SAMPLED = new Set(['accept', 'authorization', 'content-type', 'content-length', 'cookie', 'host', 'x-api-key']);
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Escapes characters that would end the text, or be executed, between a shell's double quotes or a program's quotes. */
function quotable(url: string): string {
  return url.replaceAll(/[$'`"\\!]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

interface Parameter {
  readonly style: ParameterStyle;
  readonly isRequired: boolean;
  /** The text as it is written in the call. */
  readonly written: string;
  readonly isMade: boolean;
}

const PLACES: ReadonlySet<unknown> = new Set(['path', 'query', 'header', 'cookie'] satisfies ParameterStyle['in'][]);
const isParameter = (part: Json): boolean => typeof part['name'] === 'string' && PLACES.has(part['in']);

function parametersOf(operation: Json): readonly Parameter[] {
  return listOf(operation['parameters'])
    .filter(isParameter)
    .map((part) => {
      const parameter = readParameter(part);
      const style = parameter as unknown as ParameterStyle;
      const { value, isMade } = exampleOf(parameter, style.name);
      const given = readValue(value, kindOf(isObject(parameter['schema']) ? parameter['schema'] : {}));
      return { style, isRequired: part['required'] === true || style.in === 'path', written: writeParameter(style, given), isMade };
    });
}

/** The body of a call, in the first form that every language here can send. */
function bodyOf(operation: Json): Pick<Step, 'body' | 'form' | 'upload'> {
  const body = operation['requestBody'];
  const content = Object.entries(isObject(body) && isObject(body['content']) ? body['content'] : {}).filter(([, media]) => isObject(media));
  const find = (test: (type: string) => boolean): Json | undefined => content.find(([type]) => test(type))?.[1] as Json | undefined;
  const json = find(isJsonType);
  if (json) return { body: exampleOf(json, 'text').value };
  const form = find((type) => type.startsWith('application/x-www-form-urlencoded'));
  if (form) return { body: undefined, form: textsOf(exampleOf(form, 'text').value) };
  const multipart = find((type) => type.startsWith('multipart/form-data'));
  return multipart ? { body: undefined, upload: uploadOf(multipart) } : { body: undefined };
}

/** A list becomes one field for each entry. */
function textsOf(value: unknown): readonly (readonly [string, string])[] {
  const entries = Object.entries(isObject(value) ? value : {});
  const fields = entries.flatMap(([name, each]) => (Array.isArray(each) ? each : [each]).map((entry: unknown) => [name, entry] as const));
  return fields.map(([name, each]) => [name, typeof each === 'string' ? each : JSON.stringify(each)] as const);
}

function uploadOf(media: Json): NonNullable<Step['upload']> {
  const schema = isObject(media['schema']) ? media['schema'] : {};
  const properties = Object.entries(isObject(schema['properties']) ? schema['properties'] : {});
  const isFile = (member: unknown): boolean =>
    isObject(member) && (member['format'] === 'binary' || member['contentMediaType'] !== undefined);
  const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []);
  const fields = properties.filter(([name, member]) => required.has(name) && !isFile(member));
  return {
    files: properties.flatMap(([name, member]) => (isFile(member) ? [name] : [])).slice(0, 3),
    fields: textsOf(
      Object.fromEntries(fields.map(([name, member]) => [name, exampleOfSchema(isObject(member) ? member : {}, name).value])),
    ),
  };
}

function answersJson(operation: Json): boolean {
  const responses = isObject(operation['responses']) ? operation['responses'] : {};
  const success = responses[successStatus(responses) ?? ''];
  return isObject(success) && isObject(success['content']) && Object.keys(success['content']).some(isJsonType);
}

/**
 * A call of an operation, with the values that it requires and those for which its document has an example.
 * @param operation resolved: see `ReferenceResolver`
 */
export function callOf(operation: Json, { method, path }: { readonly method: string; readonly path: string }): Step {
  const parameters = parametersOf(operation);
  const sent = (place: ParameterStyle['in']): readonly Parameter[] =>
    parameters.filter(({ style, isRequired, isMade }) => style.in === place && (isRequired || !isMade));
  const inPath = new Map(sent('path').map(({ style, written }) => [style.name, written]));
  const filled = path.split(/(\{[^{}]*\})/).map((part, index) => {
    const name = part.slice(1, -1);
    return quotable(index % 2 === 1 ? (inPath.get(name) ?? encodeURIComponent(wellFormed(name))) : encodeURI(wellFormed(part)));
  });
  const query = sent('query').map(({ written }) => quotable(written));
  const headers = sent('header').flatMap(({ style: { name }, written }) =>
    HEADER_NAME.test(name) && !NOT_SAMPLED.has(name.toLowerCase()) ? [[name, written.replaceAll(/[^\x20-\x7e]/g, '')] as const] : [],
  );
  const cookies = sent('cookie').map(({ written }) => quotable(written));
  if (cookies.length > 0) headers.push(['Cookie', cookies.join('; ')]);
  return {
    method: method.toUpperCase(),
    target: filled.join('') + (query.length > 0 ? `?${query.join('&')}` : ''),
    headers,
    ...bodyOf(operation),
    file: undefined,
    inSession: false,
    savedAs: undefined,
    answersText: !answersJson(operation),
  };
}
