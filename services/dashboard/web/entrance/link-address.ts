/**
 * The address that one of our links was sent to, as the middle part of its token (a JWT) says. To be shown only: the server, which made the
 * token, checks it.
 * @returns undefined for what is no such token
 */
export function linkAddress(token: string): string | undefined {
  const [, payload = ''] = token.split('.');
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const email: unknown = typeof claims === 'object' && claims !== null ? Reflect.get(claims, 'email') : undefined;
    return typeof email === 'string' ? email : undefined;
  } catch {
    return undefined;
  }
}
