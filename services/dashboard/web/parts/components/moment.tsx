import { useSyncExternalStore, type ReactNode } from 'react';
import { formatDistance, formatMoment } from '../format/time';

interface MomentProps {
  /** ISO 8601, UTC. */
  readonly at: string | null;
  /** Shown when there is none. */
  readonly none?: string;
  /** The exact time below it, for pages that serve as a record: a title cannot be seen on a phone. */
  readonly isExact?: boolean;
}

/** Often enough for minutes. */
const STEP_MS = 15_000;

function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, STEP_MS);
  return () => clearInterval(timer);
}

/** Unix milliseconds, a few seconds old. A component that shows it is drawn again as time goes on. */
function useNow(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / STEP_MS) * STEP_MS);
}

/** How long ago a moment was or how soon it is; a date when that is far. Its title has the exact time in the reader's zone and in UTC. */
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
