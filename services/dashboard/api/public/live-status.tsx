import { type ReactNode } from 'react';
import { type LiveSource } from '../../contract/plans';

const MOMENTS = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

function Since({ since }: Pick<LiveSource, 'since'>): ReactNode {
  return (
    <span className="quiet block">
      Since <time dateTime={since}>{MOMENTS.format(new Date(since))} UTC</time>
    </span>
  );
}

/** Which keys get answers. Why a live one does not is the operator's business. */
export function LiveStatus({ source }: { readonly source: LiveSource | null }): ReactNode {
  if (source === null) {
    return (
      <>
        <span className="badge">Test keys</span>
        <span className="quiet block">Live keys: not known</span>
      </>
    );
  }
  return (
    <>
      <span className={source.isThere ? 'badge open' : 'badge'}>{source.isThere ? 'Live and test keys' : 'Test keys only'}</span>
      <Since since={source.since} />
    </>
  );
}
