import { type Example, exampleOf, exampleOfSchema } from './example-value';
import { type Step } from './snippet-step';
import { isObject, type Json } from './sound-parts';

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Set by the gateway, by the sample's own key or by its body. */
const NOT_SAMPLED = new Set(['accept', 'authorization', 'content-type', 'content-length', 'cookie', 'host', 'x-api-key']);
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Halves of surrogate pairs can stand in no URL. */
const wellFormed = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '\ufffd');

/** In a shell's double quotes, or in the quotes of a program, these would end the text or be run. */
function quotable(url: string): string {
  return url.replaceAll(/[$'`"\\!]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function inUrl(value: unknown): string {
  return quotable(encodeURIComponent(wellFormed(typeof value === 'string' ? value : JSON.stringify(value))));
}

interface Parameter {
  readonly name: string;
  readonly place: unknown;
  readonly isRequired: boolean;
  readonly example: Example;
}

function parametersOf(operation: Json): readonly Parameter[] {
  return listOf(operation['parameters']).flatMap((parameter) => {
    const { name, in: place, required } = parameter;
    if (typeof name !== 'string') return [];
    return [{ name, place, isRequired: required === true || place === 'path', example: exampleOf(parameter, name) }];
  });
}

const isJson = (type: string): boolean => /^application\/([\w.+-]*\+)?json\b/i.test(type);

/** The body of a call in the first of the forms that every language here can send. */
function bodyOf(operation: Json): Pick<Step, 'body' | 'form' | 'upload'> {
  const body = operation['requestBody'];
  const content = Object.entries(isObject(body) && isObject(body['content']) ? body['content'] : {}).filter(([, media]) => isObject(media));
  const find = (test: (type: string) => boolean): Json | undefined => content.find(([type]) => test(type))?.[1] as Json | undefined;
  const json = find(isJson);
  if (json) return { body: exampleOf(json, 'text').value };
  const form = find((type) => type.startsWith('application/x-www-form-urlencoded'));
  if (form) return { body: undefined, form: textsOf(exampleOf(form, 'text').value) };
  const multipart = find((type) => type.startsWith('multipart/form-data'));
  return multipart ? { body: undefined, upload: uploadOf(multipart) } : { body: undefined };
}

function textsOf(value: unknown): readonly (readonly [string, string])[] {
  const entries = Object.entries(isObject(value) ? value : {});
  return entries.map(([name, each]) => [name, typeof each === 'string' ? each : JSON.stringify(each)] as const);
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
  const responses = Object.entries(isObject(operation['responses']) ? operation['responses'] : {});
  const successes = responses.flatMap(([status, answer]) => (/^2/.test(status) && isObject(answer) ? [answer] : []));
  return successes.some(({ content }) => isObject(content) && Object.keys(content).some(isJson));
}

/**
 * A call of an operation with the values that it cannot do without, and those that its document gives an example of.
 * @param operation resolved: see `ReferenceResolver`
 */
export function callOf(operation: Json, { method, path }: { readonly method: string; readonly path: string }): Step {
  const parameters = parametersOf(operation);
  const sent = parameters.filter(({ isRequired, example }) => isRequired || !example.isMade);
  const inPath = new Map(parameters.filter(({ place }) => place === 'path').map(({ name, example }) => [name, example.value]));
  const filled = path.split(/(\{[^{}]*\})/).map((part, index) => {
    const name = part.slice(1, -1);
    return index % 2 === 1 ? inUrl(inPath.get(name) ?? name) : quotable(encodeURI(wellFormed(part)));
  });
  const query = sent.filter(({ place }) => place === 'query').map(({ name, example }) => `${inUrl(name)}=${inUrl(example.value)}`);
  const headers = sent.flatMap(({ name, place, example }) =>
    place === 'header' && HEADER_NAME.test(name) && !NOT_SAMPLED.has(name.toLowerCase())
      ? [[name, String(example.value).replaceAll(/[^\x20-\x7e]/g, '')] as const]
      : [],
  );
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
