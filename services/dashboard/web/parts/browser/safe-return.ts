/**
 * A path of this dashboard to open after signing in, from a parameter that anybody may have written.
 * @returns undefined for anything that could lead elsewhere, and for the front page, which needs no mention
 */
export function safeReturn(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^\/[a-z]/i.test(value) || value.includes('\\')) return undefined;
  return /^\/(sign-in|sign-up|signed-in|api)\b/.test(value) ? undefined : value;
}
