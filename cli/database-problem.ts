/** Errors of the connection rather than of the query: Node's own, PostgreSQL's (classes 08, 28, 3D, 53, 57). */
const CONNECTION_ERRORS =
  /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|57P0\d|53300|28P01|28000|3D000|08\w{3})$/;

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** True when there is no database to work with, whatever the query. */
export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined && CONNECTION_ERRORS.test(code)) return true;
  return error instanceof Error && /timeout exceeded when trying to connect|Connection terminated/.test(error.message);
}

/** Host and port of a database URL; never its user or password. */
export function addressOf(url: string): string {
  return URL.canParse(url) && new URL(url).host !== '' ? `PostgreSQL at ${new URL(url).host}` : 'PostgreSQL';
}

/**
 * Describes what is wrong with a connection, and what to look at.
 * @param error one for which {@link isConnectionError} holds
 * @returns one sentence without a secret
 */
export function describeConnectionError(error: unknown, url: string): string {
  const code = codeOf(error) ?? 'no answer in time';
  const server = addressOf(url);
  switch (code) {
    case '28P01':
    case '28000':
      return `${server} refuses the user or the password (${code}); check DATABASE_URL`;
    case '3D000':
      return `${server} has no database with that name (${code}); create it, or check DATABASE_URL`;
    case '53300':
      return `${server} has no connection left (${code}); raise max_connections, or close connections that are not needed`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${server} cannot be found: no such host (${code}); check DATABASE_URL`;
    default:
      return `${server} does not respond (${code}); is it running, and is DATABASE_URL right?`;
  }
}
