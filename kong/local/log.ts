export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Fields must never hold a query string, a header value or a body: API keys travel in all three. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined | readonly string[]>>;

/** Receives what the gateway logs. */
export type Log = (level: LogLevel, message: string, fields?: LogFields) => void;

/** JSON lines, one per event. */
export function createJsonLog(write: (line: string) => void, now: () => Date = () => new Date()): Log {
  return (level, message, fields) => write(`${JSON.stringify({ time: now().toISOString(), level, message, ...fields })}\n`);
}
