import { z } from 'zod';

/** More entries than any list that fits into a request. */
const MAX_ENTRIES = 50_000;

function entryOf(entry: z.ZodType): object {
  const { $schema: _, ...schema } = z.toJSONSchema(entry, { io: 'input', unrepresentable: 'any' });
  return schema;
}

/**
 * A list that callers send back as they received it. Reading stops at the first wrong entry, so that a body with a million mistakes does
 * not make a million messages.
 * @param message reads as a sentence after the entry's name
 */
export function listOf<Entry extends z.ZodType>(entry: Entry, message: string): z.ZodType<z.output<Entry>[], unknown[]> {
  return (
    z
      .array(z.unknown())
      .max(MAX_ENTRIES)
      // Only for the OpenAPI document: zod itself accepts any entry here, and the transformation below reads each one.
      .meta({ items: entryOf(entry) })
      .transform((list, context) => {
        const read: z.output<Entry>[] = [];
        for (const [index, each] of list.entries()) {
          const parsed = entry.safeParse(each);
          if (!parsed.success) {
            context.issues.push({ code: 'custom', message, input: each, path: [index] });
            return z.NEVER;
          }
          read.push(parsed.data);
        }
        return read;
      })
  );
}
