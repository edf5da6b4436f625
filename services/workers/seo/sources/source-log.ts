import { type Clock, type KeyMode } from '../../../../plugins/core/ports';
import { ServiceError } from '../../../kit/errors';
import { sourceName } from '../../../kit/upstream/source-name';
import { formatInstant } from '../../../kit/timestamp';
import { type SourceKind } from '../figure';
import { type SourceFailureCode, sourceFailure } from './source-failed';

export interface SourceReport {
  readonly name: string;
  readonly kind: SourceKind;
  /** The provider's date of its data, or else the time of the first query; RFC 3339. */
  readonly asOf: string;
  /** False when every query to the source failed. */
  readonly ok: boolean;
  /** Number of queries, pages or estimates. */
  readonly asked: number;
  readonly failed: number;
  /** The last failure when all failed. */
  readonly error: string | undefined;
}

/** The result of a source. */
export interface SourceResult<T> {
  readonly value: T;
  /** The provider's own date of its data, in any form that a Date parses. A date without a time is the start of that day in UTC. */
  readonly asOf?: string | undefined;
}

interface Note {
  readonly asOf?: string | undefined;
  /** Reason why there is no usable result. */
  readonly failure?: string | undefined;
  /** True when the source did respond, although without a usable result: a page that is gone, for example. */
  readonly isAnswer?: boolean;
  /** False for a query that was not sent: a page that robots.txt forbids. */
  readonly isAsked?: boolean;
}

interface Entry {
  readonly kind: SourceKind;
  asOf: string | undefined;
  readonly askedAtMs: number;
  usable: number;
  failed: number;
  /** True when the source responded to at least one query, usably or not. */
  isAnswered: boolean;
  failure: string | undefined;
}

/** Undefined for anything but a date. */
function instantOf(text: string | undefined): string | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : formatInstant(ms);
}

function detailOf(asked: number, isPagesOnly: boolean): string {
  if (isPagesOnly) return 'None of the pages could be reached.';
  return asked === 1 ? 'The only source of this data failed.' : 'Every source of this data failed.';
}

/** Queries the sources of one call, and records the result of each. */
export class SourceLog {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly clock: Clock,
    private readonly signal: AbortSignal,
    private readonly mode: KeyMode,
  ) {}

  /** @returns undefined when the source failed; the report says why */
  async ask<T>(name: string, work: () => Promise<SourceResult<T>>): Promise<T | undefined> {
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

  /** Records one query to a source that was sent elsewhere, or an estimate. */
  note(name: string, kind: SourceKind, { asOf, failure, isAnswer = failure === undefined, isAsked = true }: Note = {}): void {
    const entry = this.entries.get(name) ?? {
      kind, asOf: undefined, askedAtMs: this.clock.now(), usable: 0, failed: 0, isAnswered: false, failure: undefined,
    }; // prettier-ignore
    this.entries.set(name, entry);
    entry.asOf = instantOf(asOf) ?? entry.asOf;
    entry.isAnswered ||= isAnswer;
    if (failure === undefined) entry.usable++;
    else {
      if (isAsked) entry.failed++;
      entry.failure = failure;
    }
  }

  reports(): SourceReport[] {
    return [...this.entries].map(([name, { kind, asOf, askedAtMs, usable, failed, failure }]) => ({
      name: sourceName(name, this.mode),
      kind,
      asOf: asOf ?? formatInstant(askedAtMs),
      ok: usable > 0,
      asked: usable + failed,
      failed,
      error: usable > 0 ? undefined : failure,
    }));
  }

  /** Reason of a source's failure; undefined when it returned something. */
  failureOf(name: string): string | undefined {
    const entry = this.entries.get(name);
    return entry && entry.usable === 0 ? entry.failure : undefined;
  }

  /**
   * Call it when the response depends on providers.
   * @param silent providers whose response is uninformative, such as a list in memory that does not name the domain
   * @throws ServiceError when some were queried and all failed: 504 when each ran out of time, otherwise 502
   */
  requireProvider(silent: readonly string[] = []): void {
    this.require(([name, { kind }]) => kind === 'provider' && !silent.includes(name));
  }

  /**
   * Call it when the response depends on providers, on pages, or on both. One response is enough.
   * @param silent as for {@link requireProvider}
   * @throws ServiceError as {@link requireProvider}; with the code `pages_unreachable` or `pages_timeout` when only pages were read
   */
  requireSource(silent: readonly string[] = []): void {
    this.require(([name, { kind }]) => kind !== 'service_estimate' && !silent.includes(name));
  }

  private require(isNeeded: (entry: readonly [name: string, entry: Entry]) => boolean): void {
    const asked = [...this.entries].filter(isNeeded);
    if (asked.length === 0 || asked.some(([, { isAnswered }]) => isAnswered)) return;
    const timeout: SourceFailureCode = 'timeout';
    const isLate = asked.every(([, { failure }]) => failure === timeout);
    const sources = asked.map(([name, { failure }]) => ({ name: sourceName(name, this.mode), ok: false, error: failure }));
    // The caller names these pages and so causes their failures, which have their own codes.
    const isPagesOnly = asked.every(([, { kind }]) => kind === 'measured');
    throw new ServiceError(isLate ? 'upstream_timeout' : 'upstream_failed', {
      ...(isPagesOnly && { code: isLate ? 'pages_timeout' : 'pages_unreachable' }),
      detail: detailOf(asked.length, isPagesOnly),
      members: { sources },
    });
  }
}
