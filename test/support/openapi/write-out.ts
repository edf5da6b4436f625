/** A document without cycles, with what it refers to in place of each reference, so that every place in it can be pointed at. */
export function writeOut<Document extends object>(document: Document): Document {
  const follow = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(follow);
    if (typeof part !== 'object' || part === null) return part;
    const { $ref: reference, ...members } = part as Readonly<Record<string, unknown>>;
    const own = Object.fromEntries(Object.entries(members).map(([name, value]) => [name, follow(value)]));
    if (typeof reference !== 'string') return own;
    const found = reference
      .slice(2)
      .split('/')
      .reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>>)[name], document);
    return { ...(follow(found) as object), ...own };
  };
  return follow(document) as Document;
}
