import { type OperationRefusal } from './operation-refusals';

/** An operation that cannot be done as requested; nothing was changed. The message is one sentence for the person who asked. */
export class OperationRefused extends Error {
  override readonly name = 'OperationRefused';
  constructor(
    readonly code: OperationRefusal,
    message: string,
    /** Further members of the response. */
    readonly members: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}
