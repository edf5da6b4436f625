import { type z } from 'zod';
import { invalidInput } from '../errors';
import { type BodyMode } from '../service/define-service';
import { memberSchemas } from './schema-members';

/** The parameters of a route, each by the form in which spellings of it agree. */
export type KnownParameters = { readonly names: ReadonlySet<string>; readonly byForm: ReadonlyMap<string, string> };

/** What is left of a name without its case, brackets, hyphens, underscores and plural. */
function formOf(name: string): string {
  const plain = name
    .replace(/\[.*/s, '')
    .replaceAll(/[-_.\s]/g, '')
    .toLowerCase();
  return plain.replace(/ies$/, 'y').replace(/s$/, '');
}

/** @param schema the route's input schema; @param body how its body is read: the fields of an upload are parameters too */
export function knownParameters(schema: z.ZodType | undefined, body: BodyMode): KnownParameters {
  const names = new Set(memberSchemas(schema).map(([name]) => name));
  if (body.kind === 'upload') for (const field of body.fields) names.add(field);
  return { names, byForm: new Map([...names].map((name) => [formOf(name), name])) };
}

/**
 * Refuses a name that all but matches a parameter: ignored, it would answer a question that was not asked (`?IP=` about the caller).
 * Names that resemble nothing are ignored, as everywhere. What stands in brackets is the caller's and is not repeated.
 * @throws ServiceError 400
 */
export function refuseNearMisses(names: Iterable<string>, known: KnownParameters): void {
  const errors = [];
  for (const name of names) {
    const meant = known.names.has(name) ? undefined : known.byForm.get(formOf(name));
    if (meant === undefined) continue;
    errors.push({ field: name.replace(/\[.*/s, '[]'), message: `is not a parameter of this route: ${meant} is` });
  }
  if (errors.length > 0) throw invalidInput(errors);
}
