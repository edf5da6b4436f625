/** The log of the plugin server. A pino logger fits. */
export interface ServerLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
