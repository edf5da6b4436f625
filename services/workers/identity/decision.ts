import { type SessionRefusal } from './refusals';

/** A machine's decision before a step. `session` replaces the stored one; undefined ends it. */
export type StepDecision<S> =
  | { readonly admitted: true; readonly session: S }
  | { readonly admitted: false; readonly session: S | undefined; readonly refusal: SessionRefusal };

/** A machine's decision after a step. `refusal` is the step's result. Without it the step succeeded, or failed at the upstream. */
export interface StepSettlement<S> {
  readonly session: S | undefined;
  readonly refusal?: SessionRefusal;
}

/**
 * The end of an exchange without a reply. `failed`: no reply can come any more. `lost`: a reply may still come and could be mistaken for
 * the next step's, so the session must end.
 */
export type Fault = { readonly kind: 'failed' } | { readonly kind: 'lost' };
