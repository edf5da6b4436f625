import { isTimeout } from '../errors';
import { type Metrics, type UpstreamOutcome } from '../metrics';
import { traced } from '../tracing';

export interface ExchangeToWatch {
  /** Configured name of the upstream or worker; never a URL. */
  readonly upstream: string;
  /** Name of the span when the upstream's name says too little; a fixed text. */
  readonly operation?: string;
  readonly metrics: Metrics | undefined;
  /** The caller's signal. An exchange that failed after it fired counts as cancelled. */
  readonly signal: AbortSignal;
  /** Replaces the usual reading of a failure. */
  readonly outcomeOf?: (error: unknown) => UpstreamOutcome;
}

/**
 * Counts, times and traces one exchange with an upstream or a worker.
 * @param work is given the `traceparent` to pass on, when the call is traced
 */
export async function watchExchange<T>(exchange: ExchangeToWatch, work: (traceparent: string | undefined) => Promise<T>): Promise<T> {
  const { upstream, operation, metrics, signal } = exchange;
  const usualOutcome = (error: unknown): UpstreamOutcome => (isTimeout(error) ? 'timeout' : signal.aborted ? 'cancelled' : 'failed');
  const startedAt = performance.now();
  const count = (outcome: UpstreamOutcome): void => metrics?.countUpstream({ upstream, outcome }, (performance.now() - startedAt) / 1000);
  try {
    const result = await traced(
      signal,
      { name: operation === undefined ? upstream : `${upstream} ${operation}`, attributes: { 'tollgate.upstream': upstream } },
      work,
    );
    count('ok');
    return result;
  } catch (error) {
    count((exchange.outcomeOf ?? usualOutcome)(error));
    throw error;
  }
}
