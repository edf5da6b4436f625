import { refusalError, type StepDecision, type Fault, type StepSettlement } from './refusals';
import { type SessionOwner, type SessionTable } from './session-table';
import { exchangeError, isSettled } from './upstream/source-failure';

/** One step of a session: the machine's decisions before and after, and the exchange between them. */
export interface SessionStep<S, O extends { readonly kind: string }> {
  admit(session: S, nowMs: number): StepDecision<S>;
  exchange(session: S): Promise<O>;
  settle(session: S, outcome: O | Fault, nowMs: number): StepSettlement<S>;
  /** Members of the response of a refused step. */
  members?(outcome: O): Readonly<Record<string, unknown>>;
}

export interface StepTarget<S> {
  readonly table: SessionTable<S>;
  readonly id: string;
  readonly owner: SessionOwner;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/**
 * Takes a session one step further. The session is marked before the exchange, so that no second step can run at the same time.
 * @throws ServiceError the machine's refusal, or 502 or 504 for the upstream
 */
export async function runStep<S, O extends { readonly kind: string }>(target: StepTarget<S>, step: SessionStep<S, O>): Promise<O> {
  const { table, id, owner, now } = target;
  const found = table.find(id, owner);
  if (found === undefined) throw refusalError({ code: 'session_expired' });
  const decision = step.admit(found, now());
  table.replace(id, decision.session);
  if (!decision.admitted) throw refusalError(decision.refusal);
  let outcome: O;
  try {
    outcome = await step.exchange(decision.session);
  } catch (error) {
    const fault: Fault = { kind: isSettled(error) ? 'failed' : 'lost' };
    table.replace(id, step.settle(decision.session, fault, now()).session);
    throw exchangeError(error);
  }
  const { session, refusal } = step.settle(decision.session, outcome, now());
  table.replace(id, session);
  if (refusal) throw refusalError(refusal, step.members?.(outcome));
  return outcome;
}
