function textMember(error: unknown, member: 'name' | 'code'): string {
  const text: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, member) : undefined;
  return typeof text === 'string' ? text : '';
}

/**
 * The `code` that Node and libraries give their errors, for example `ECONNREFUSED`; empty without one. Whether it is an instance of Error
 * is not asked: other threads and contexts have classes of their own.
 */
export function codeOf(error: unknown): string {
  return textMember(error, 'code');
}

/** The `name` of an error, asked in the same way. */
export function nameOf(error: unknown): string {
  return textMember(error, 'name');
}
