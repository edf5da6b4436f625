import { type Refusal } from './refusals';

/** What a machine says to a step before it is tried. `session` replaces the stored one; undefined ends it. */
export type Decision<S> =
  | { readonly admitted: true; readonly session: S }
  | { readonly admitted: false; readonly session: S | undefined; readonly refusal: Refusal };

/** What a machine makes of a step's outcome. `refusal` is the step's answer; absent, it succeeded or failed at the upstream. */
export interface Settlement<S> {
  readonly session: S | undefined;
  readonly refusal?: Refusal;
}

/**
 * How an exchange without an answer ended. `failed`: no answer can come any more. `lost`: one may still come, and could be taken for the
 * answer to the next step: the session must end.
 */
export type Fault = { readonly kind: 'failed' } | { readonly kind: 'lost' };
