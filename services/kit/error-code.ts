function textMember(error: unknown, member: 'name' | 'code'): string {
  const text: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, member) : undefined;
  return typeof text === 'string' ? text : '';
}

/**
 * The `code` that Node and libraries give their errors, for example `ECONNREFUSED`; empty without one. The check does not use `instanceof
 * Error`, because other threads and contexts have classes of their own.
 */
export function codeOf(error: unknown): string {
  return textMember(error, 'code');
}

/** The `name` of an error, read the same way as {@link codeOf} reads its code. */
export function nameOf(error: unknown): string {
  return textMember(error, 'name');
}
