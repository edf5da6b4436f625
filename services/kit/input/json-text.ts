import { invalidInput } from '../errors';
import { contradiction, CREDENTIAL_FIELD, FieldCollector, MAX_FIELDS } from './form-text';

/** Maximum levels of arrays and objects. No documented input goes past five. */
const MAX_JSON_DEPTH = 64;

const BODY = 'JSON body';

function refuse(message: string): never {
  throw invalidInput([{ field: BODY, message }]);
}

/** The index just past the string that starts at `quote`. */
function endOfString(text: string, quote: number): number {
  for (let index = text.indexOf('"', quote + 1); index >= 0; index = text.indexOf('"', index + 1)) {
    let backslashes = 0;
    while (text[index - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return index + 1;
  }
  return text.length;
}

interface Member {
  readonly nameStart: number;
  readonly nameEnd: number;
  /** Just past the colon; negative until it is seen. */
  valueStart: number;
}

/**
 * Remembers the members of the outermost object and refuses a member that repeats with another value. JSON.parse would let the last one
 * win.
 */
class MemberCheck {
  private readonly values = new Map<string, string>();
  private member: Member | undefined;

  constructor(private readonly text: string) {}

  seeString(start: number, end: number): void {
    this.member ??= { nameStart: start, nameEnd: end, valueStart: -1 };
  }

  seeColon(index: number): void {
    if (this.member && this.member.valueStart < 0) this.member.valueStart = index + 1;
  }

  seeEnd(index: number): void {
    const { member, text } = this;
    if (!member || member.valueStart < 0) return;
    this.member = undefined;
    const name = parseOrRefuse(text.slice(member.nameStart, member.nameEnd)) as string;
    const value = text.slice(member.valueStart, index).trim();
    const before = this.values.get(name);
    if (before !== undefined && before !== value && name !== CREDENTIAL_FIELD) throw contradiction(name, BODY);
    this.values.set(name, value);
    if (this.values.size > MAX_FIELDS) refuse(`holds more than ${MAX_FIELDS} fields`);
  }
}

/** Walks over the text once, before JSON.parse builds anything, and checks its depth and the members of the outermost object. */
function checkShape(text: string): void {
  const members = new MemberCheck(text);
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '"') {
      const end = endOfString(text, index);
      if (depth === 1) members.seeString(index, end);
      index = end - 1;
    } else if (character === '{' || character === '[') {
      if (++depth > MAX_JSON_DEPTH) refuse(`is nested deeper than ${MAX_JSON_DEPTH} levels`);
    } else if (character === '}' || character === ']') {
      if (depth === 1) members.seeEnd(index);
      depth--;
    } else if (depth === 1 && character === ':') members.seeColon(index);
    else if (depth === 1 && character === ',') members.seeEnd(index);
  }
}

function parseOrRefuse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return refuse('is not valid JSON');
  }
}

/** Removes members that could reach a prototype if the object is later copied with plain assignments. */
function dropPrototypeMembers(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) {
    delete (value as Record<string, unknown>)['__proto__'];
    const constructor: unknown = Object.hasOwn(value, 'constructor') ? Reflect.get(value, 'constructor') : undefined;
    if (typeof constructor === 'object' && constructor !== null && Object.hasOwn(constructor, 'prototype'))
      Reflect.deleteProperty(value, 'constructor');
  }
  for (const each of Object.values(value)) dropPrototypeMembers(each);
}

/**
 * Reads the JSON object of a request body. Empty text is an object without fields.
 * @throws ServiceError 400 when it is not JSON, not an object, nested too deep, has too many fields or contradicts itself
 */
export function parseJsonText(text: string): Record<string, unknown> {
  const collector = new FieldCollector(BODY);
  if (text.trim() === '') return collector.fields;
  checkShape(text);
  const value = parseOrRefuse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse('must be a JSON object');
  if (/proto|\\u/.test(text)) dropPrototypeMembers(value);
  for (const [name, member] of Object.entries(value)) collector.add(name, member);
  return collector.fields;
}
