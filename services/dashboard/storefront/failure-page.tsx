import { type ReactNode } from 'react';
import { PageFrame, type PageTools } from './page-frame';

/** A failure, as its page shows it. */
export interface PageFailure {
  /** 500 and above. */
  readonly status: number;
  readonly requestId: string;
}

/** Replaces a page that could not be made. */
export function FailurePage({
  tools,
  failure: { status, requestId },
}: {
  readonly tools: PageTools;
  readonly failure: PageFailure;
}): ReactNode {
  const isAway = status === 503;
  const title = isAway ? 'Back in a moment' : 'Something went wrong';
  const support = tools.brand.words?.support;
  return (
    <PageFrame tools={tools} title={title} description="This page could not be shown." path="/search">
      <h1>{title}</h1>
      <p className="lead">
        {isAway
          ? 'This page cannot be shown right now. Calls to the API have their own servers and may still work.'
          : 'This page could not be shown. The fault is ours, and it has been logged.'}
      </p>
      <p className="actions">
        <a className="button" href="">
          Try again
        </a>
        {support !== undefined && (
          <a className="button second" href={`mailto:${support}`}>
            Write to support
          </a>
        )}
      </p>
      <p className="quiet">
        Status {status}, request <code>{requestId}</code>. Quote it when you ask for help.
      </p>
    </PageFrame>
  );
}
