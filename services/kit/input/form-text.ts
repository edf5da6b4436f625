import { invalidInput, type ServiceError } from '../errors';

/** More fields than any route has. A body with a million tiny fields must not cost a million objects. */
export const MAX_FIELDS = 200;
/** Maximum characters of a field's name. */
const MAX_FIELD_NAME = 200;

/** The parameter of the API key. The gateway strips it. A service that is reached another way must not see it either. */
export const CREDENTIAL_FIELD = 'api_key';

/** Where a field came from, in words for messages. */
export type FieldSource = 'query' | 'form' | 'JSON body';

/** The 400 for one source that gives a field two values. */
export function contradiction(name: string, source: FieldSource): ServiceError {
  return invalidInput([{ field: name, message: `is given more than once in the ${source}, with different values` }]);
}

/** Fields of one source. Refuses a field that is given twice with different values; drops the credential. */
export class FieldCollector {
  /** No prototype: a field may be called `__proto__` and is then simply unknown. */
  readonly fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  private count = 0;

  constructor(private readonly source: FieldSource) {}

  /** @throws ServiceError 400 */
  add(name: string, value: unknown): void {
    if (name === CREDENTIAL_FIELD) return;
    if (++this.count > MAX_FIELDS) throw invalidInput([{ field: this.source, message: `holds more than ${MAX_FIELDS} fields` }]);
    if (name.length > MAX_FIELD_NAME) throw invalidInput([{ field: this.source, message: 'holds a field whose name is too long' }]);
    if (name in this.fields && this.fields[name] !== value) throw contradiction(name, this.source);
    this.fields[name] = value;
  }
}

function decode(text: string, source: FieldSource): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw invalidInput([{ field: source, message: 'is not valid percent-encoded UTF-8' }]);
  }
}

/**
 * Reads `a=1&b=2` (a query without `?`, or an urlencoded body). A bare name has an empty value.
 * @throws ServiceError 400 on broken encoding, too many fields or contradicting repeats
 */
export function parseFormText(text: string, source: 'query' | 'form'): Record<string, unknown> {
  const collector = new FieldCollector(source);
  if (text === '') return collector.fields;
  for (let start = 0; start <= text.length;) {
    const ampersand = text.indexOf('&', start);
    const end = ampersand < 0 ? text.length : ampersand;
    if (end > start) {
      // Looks in the field alone. Searching the rest of the text for every field would take quadratic time.
      const field = text.slice(start, end);
      const equals = field.indexOf('=');
      const nameEnd = equals < 0 ? field.length : equals;
      collector.add(decode(field.slice(0, nameEnd), source), decode(field.slice(nameEnd + 1), source));
    }
    start = end + 1;
  }
  return collector.fields;
}
