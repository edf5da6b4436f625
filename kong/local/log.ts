type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Fields may never contain a query string, a header value or a body, because API keys may be in all three. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined | readonly string[]>>;

/** Receives the gateway's log entries. */
export type WriteLog = (level: LogLevel, message: string, fields?: LogFields) => void;

/** JSON lines, one per event. */
export function createJsonLog(write: (line: string) => void): WriteLog {
  return (level, message, fields) => write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`);
}
