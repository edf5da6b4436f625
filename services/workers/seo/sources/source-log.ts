import { type Clock } from '../../../../plugins/core/ports';
import { ServiceError } from '../../../kit/errors';
import { formatTimestamp } from '../../../kit/timestamp';
import { type SourceKind } from '../figure';
import { type FailureReason, sourceFailure } from './source-failed';

export interface SourceReport {
  readonly name: string;
  readonly kind: SourceKind;
  /** As the provider dates its data, else when it was asked. */
  readonly asOf: string;
  /** False when every question to the source failed. */
  readonly ok: boolean;
  /** The last failure; beside `ok: true` when other questions were answered. */
  readonly error: string | undefined;
}

/** What a source answered. */
export interface Answer<T> {
  readonly value: T;
  /** The provider's own date of its data. */
  readonly asOf?: string | undefined;
}

interface Entry {
  readonly kind: SourceKind;
  asOf: string;
  answered: number;
  failure: string | undefined;
}

/** Asks the sources of one call and remembers how each did. */
export class SourceLog {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly clock: Clock,
    private readonly signal: AbortSignal,
  ) {}

  /** @returns undefined when the source failed; the report says why */
  async ask<T>(name: string, work: () => Promise<Answer<T>>): Promise<T | undefined> {
    try {
      const { value, asOf } = await work();
      this.note(name, 'provider', { asOf });
      return value;
    } catch (error) {
      this.signal.throwIfAborted();
      this.note(name, 'provider', { failure: sourceFailure(error).reason });
      return undefined;
    }
  }

  /** Records one question to a source that was asked elsewhere, or an estimate. */
  note(name: string, kind: SourceKind, { asOf, failure }: { asOf?: string | undefined; failure?: string } = {}): void {
    const entry = this.entries.get(name) ?? { kind, asOf: '', answered: 0, failure: undefined };
    this.entries.set(name, entry);
    entry.asOf = asOf ?? (entry.asOf === '' ? formatTimestamp(this.clock.now()) : entry.asOf);
    if (failure === undefined) entry.answered++;
    else entry.failure = failure;
  }

  reports(): SourceReport[] {
    return [...this.entries].map(([name, { kind, asOf, answered, failure }]) => ({
      name,
      kind,
      asOf,
      ok: answered > 0 || failure === undefined,
      error: failure,
    }));
  }

  /**
   * To be called when the answer rests on providers.
   * @param silent providers whose answer says nothing, such as a list in memory that does not name the domain
   * @throws ServiceError when some were asked and all failed: 504 when each ran out of time, else 502
   */
  requireProvider(silent: readonly string[] = []): void {
    const asked = this.reports().filter(({ name, kind }) => kind === 'provider' && !silent.includes(name));
    if (asked.length === 0 || asked.some(({ ok }) => ok)) return;
    const timeout: FailureReason = 'timeout';
    const sources = asked.map(({ name, error }) => ({ name, ok: false, error }));
    throw new ServiceError(asked.every(({ error }) => error === timeout) ? 'upstream_timeout' : 'upstream_failed', {
      detail: asked.length === 1 ? 'The only source of this data failed.' : 'Every source of this data failed.',
      members: { sources },
    });
  }
}
