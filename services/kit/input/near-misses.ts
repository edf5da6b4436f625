import { type FieldError, invalidInput } from '../errors';
import { type BodyMode } from './body-mode';
import { memberSchemas } from './schema-members';

/** The parameters of a route, or the members of one of them, by the form that their spellings have in common. */
export interface KnownParameters {
  readonly names: ReadonlySet<string>;
  readonly byForm: ReadonlyMap<string, string>;
  /** Members of the parameters that are objects, by parameter. */
  readonly members: ReadonlyMap<string, KnownParameters>;
}

/** A name without its case, brackets, hyphens, underscores and plural. */
function formOf(name: string): string {
  const plain = name
    .replace(/\[.*/s, '')
    .replaceAll(/[-_.\s]/g, '')
    .toLowerCase();
  return plain.replace(/ies$/, 'y').replace(/s$/, '');
}

/** @param schema the route's input schema; @param body how its body is read: the fields of an upload are parameters too */
export function knownParameters(schema: unknown, body?: BodyMode): KnownParameters {
  const names = new Set<string>();
  const members = new Map<string, KnownParameters>();
  for (const [name, member] of memberSchemas(schema)) {
    names.add(name);
    if (memberSchemas(member).length > 0) members.set(name, knownParameters(member));
  }
  if (body?.kind === 'upload') for (const field of body.fields) names.add(field);
  return { names, byForm: new Map([...names].map((name) => [formOf(name), name])), members };
}

function nearMissesIn(fields: object, known: KnownParameters, path: string): FieldError[] {
  const entries: readonly [string, unknown][] = Object.entries(fields);
  return entries.flatMap(([name, value]): FieldError[] => {
    const meant = known.names.has(name) ? undefined : known.byForm.get(formOf(name));
    if (meant !== undefined)
      return [{ field: `${path}${name.replace(/\[.*/s, '[]')}`, message: `is not a parameter of this route: ${path}${meant} is` }];
    const inner = known.members.get(name);
    return inner && typeof value === 'object' && value !== null ? nearMissesIn(value, inner, `${path}${name}.`) : [];
  });
}

/**
 * Refuses a name that nearly matches a parameter. If it were ignored, the response would answer another question (`?IP=` would look up the
 * caller). Names that resemble nothing are ignored, as everywhere. Text in brackets comes from the caller and is not repeated.
 * @throws ServiceError 400
 */
export function refuseNearMisses(fields: object, known: KnownParameters): void {
  const errors = nearMissesIn(fields, known, '');
  if (errors.length > 0) throw invalidInput(errors);
}
