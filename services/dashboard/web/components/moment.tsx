import { type ReactNode } from 'react';
import { formatMoment } from '../app/time';
import { useSession } from '../app/use-session';

interface MomentProps {
  /** ISO 8601, UTC. */
  readonly at: string | null;
  /** Shown when there is none. */
  readonly none?: string;
}

/** A moment in the quota time zone, with UTC in its title. */
export function Moment({ at, none = 'never' }: MomentProps): ReactNode {
  const { quotaTimeZone } = useSession();
  if (at === null) return <span className="dimmed">{none}</span>;
  return (
    <time dateTime={at} title={`${at.replace('T', ' ').replace(/(\.\d+)?Z$/, '')} UTC`} className="moment">
      {formatMoment(at, quotaTimeZone)}
    </time>
  );
}
