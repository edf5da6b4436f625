/** What this program itself finds wrong; operations add their own codes. Stable, for scripts. */
export type CommandErrorCode =
  | 'invalid_argument'
  | 'request_unknown'
  | 'not_running'
  | 'database_unavailable'
  | 'database_unprepared'
  | 'check_failed'
  | 'restore_differs';

/** A mistake that the user can mend: its message is one readable line. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    readonly code: CommandErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
