import { useSyncExternalStore, type ReactNode } from 'react';
import { formatDistance, formatMoment } from '../format/time';

interface MomentProps {
  /** ISO 8601, UTC. */
  readonly at: string | null;
  /** Shown when there is none. */
  readonly none?: string;
  /** Shows the exact time below it, for pages that serve as a record: a title is invisible on a phone. */
  readonly isExact?: boolean;
}

/** Often enough for minutes. */
const STEP_MS = 15_000;

function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, STEP_MS);
  return () => clearInterval(timer);
}

/** Unix milliseconds, at most a few seconds old. Components that use it are drawn again as time passes. */
function useNow(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / STEP_MS) * STEP_MS);
}

/** A past or future time as a distance, or as a date when it is far. Its title has the exact time in the reader's zone and in UTC. */
export function Moment({ at, none = 'never', isExact = false }: MomentProps): ReactNode {
  const nowMs = useNow();
  if (at === null) return <span className="dimmed">{none}</span>;
  const exact = formatMoment(at);
  const distance = formatDistance(at, nowMs);
  const title = `${exact} (${at.replace('T', ' ').replace(/(\.\d+)?Z$/, '')} UTC)`;
  return (
    <time dateTime={at} title={title} className="moment">
      {distance ?? exact}
      {isExact && distance !== undefined && <span className="exact">{exact}</span>}
    </time>
  );
}
