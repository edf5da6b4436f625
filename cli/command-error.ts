/** Mistakes that this program itself detects; operations add their own codes. The codes are stable, for scripts. */
export type CommandErrorCode =
  | 'invalid_argument'
  | 'request_unknown'
  | 'not_running'
  | 'database_unavailable'
  | 'database_unprepared'
  | 'check_failed'
  | 'unwell'
  | 'restore_differs'
  | 'catalogue_invalid'
  | 'catalogue_differs'
  | 'document_unusable'
  | 'reload_failed'
  | 'folder_in_use'
  | 'no_folder'
  | 'product_unknown'
  | 'product_shared'
  | 'model_refused'
  | 'model_unknown'
  | 'dashboard_away'
  | 'provider_away';

/** One of several mistakes. Scripts get all members, people the text. */
export interface Mistake {
  readonly text: string;
}

/** A mistake that the user can correct. Its message is one readable line. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    readonly code: CommandErrorCode,
    message: string,
    options?: ErrorOptions,
    /** Several mistakes, each on its own line below the message. */
    readonly mistakes: readonly Mistake[] = [],
  ) {
    super(message, options);
  }
}
