import { type ReactNode } from 'react';
import { denialOf, statusOf } from '../../../plugins/core/problems';
import { type Explanation } from '../../selling/requests/explain';
import { PageFrame, type PageTools, signUpPath } from './page-frame';

/** A request as a reader without a session may see it. */
export type Explained =
  /** The reader has yet to enter an id. */
  | { readonly kind: 'asked'; readonly requestId: string }
  | { readonly kind: 'known'; readonly requestId: string; readonly explanation: Explanation }
  /** The request is of an account, too old or too new, or does not exist. */
  | { readonly kind: 'hidden'; readonly requestId: string }
  /** The database does not respond. */
  | { readonly kind: 'away'; readonly requestId: string };

const pathOf = (requestId: string): string => `/explain?request=${encodeURIComponent(requestId)}`;
const signInPath = (then: string): string => `/sign-in?then=${encodeURIComponent(then)}`;

function AskForm({ requestId }: Pick<Explained, 'requestId'>): ReactNode {
  return (
    <form className="search" action="/explain" method="get">
      <label htmlFor="request">Request ID</label>
      <input id="request" name="request" defaultValue={requestId} maxLength={100} autoComplete="off" spellCheck={false} />
      <button className="button second" type="submit">
        Explain
      </button>
    </form>
  );
}

function Support({ tools: { brand } }: Pick<ExplainPageProps, 'tools'>): ReactNode {
  const support = brand.words?.support;
  if (support === undefined) return null;
  return (
    <a className="button second" href={`mailto:${support}`}>
      Write to support
    </a>
  );
}

/** A key that nobody has needs an account; for anything else the page of the code says more. */
function Remedies({ explanation: { outcome } }: { readonly explanation: Explanation }): ReactNode {
  const code = denialOf(outcome);
  if (code === undefined) return null;
  return (
    <p className="actions">
      {statusOf(code) === 401 && (
        <>
          <a className="button" href={signInPath('/keys')}>
            Sign in to your keys
          </a>
          <a className="button second" href={signUpPath('/keys')}>
            Create an account
          </a>
        </>
      )}
      <a className="button second" href={`/reference/errors#${code}`}>
        What {code} means
      </a>
    </p>
  );
}

function Story({ explanation }: { readonly explanation: Explanation }): ReactNode {
  const { at, summary, checks, product, remedy } = explanation;
  const failed = checks.find(({ outcome }) => outcome === 'failed');
  return (
    <section aria-labelledby="story" className="story">
      <h2 id="story">{denialOf(explanation.outcome) === undefined ? 'Admitted' : 'Refused'}</h2>
      <p>
        <strong>{summary}</strong>
      </p>
      <p className="quiet">
        <time dateTime={at}>{at.replace('T', ' ').replace('Z', ' UTC')}</time>
        {product && ` · ${product.title}`}
      </p>
      {failed && (
        <p>
          Failed: {failed.check}. Found: {failed.saw}.
        </p>
      )}
      {remedy !== '' && <p>How to fix it: {remedy}</p>}
      <Remedies explanation={explanation} />
    </section>
  );
}

function Hidden({ tools, requestId }: { readonly tools: PageTools; readonly requestId: string }): ReactNode {
  return (
    <section aria-labelledby="story" className="story">
      <h2 id="story">Sign in to see this request</h2>
      <p>
        A request with a valid key is shown to the account of the key. Any other is shown here for 7 days, from a few seconds after its
        response; of a busy hour only some.
      </p>
      <p>
        A response with the status 500 or 503 that is not shown to its account either was not recorded: the gateway could not check the
        request, did nothing and charged nothing. That is ours to mend. Send the request again shortly.
      </p>
      <p className="actions">
        <a className="button" href={signInPath(pathOf(requestId))}>
          Sign in
        </a>
        <a className="button second" href={pathOf(requestId)}>
          Check again
        </a>
        <a className="button second" href={tools.brand.words?.links.status ?? '/status'}>
          See the status
        </a>
      </p>
    </section>
  );
}

function Away({ tools, requestId }: { readonly tools: PageTools; readonly requestId: string }): ReactNode {
  return (
    <section aria-labelledby="story" className="story">
      <h2 id="story">The record of requests cannot be read right now</h2>
      <p>
        Our database does not answer, so nothing can be said about this request yet. If its response was 503, this is the likely reason: it
        could not be checked, nothing was done, and nothing was charged. That is ours to mend, and your request is not at fault.
      </p>
      <p className="actions">
        <a className="button" href={pathOf(requestId)}>
          Try again
        </a>
        <Support tools={tools} />
      </p>
    </section>
  );
}

function Result({ tools, explained }: ExplainPageProps): ReactNode {
  switch (explained.kind) {
    case 'asked':
      return null;
    case 'known':
      return <Story explanation={explained.explanation} />;
    case 'hidden':
      return <Hidden tools={tools} requestId={explained.requestId} />;
    case 'away':
      return <Away tools={tools} requestId={explained.requestId} />;
  }
}

interface ExplainPageProps {
  readonly tools: PageTools;
  readonly explained: Explained;
}

/** What happened to a request, for readers without a session. */
export function ExplainPage({ tools, explained }: ExplainPageProps): ReactNode {
  const { requestId } = explained;
  const description = 'What happened to a request, whose fault it was, and what to do.';
  return (
    <PageFrame tools={tools} title="Explain a request" description={description} path={requestId === '' ? '/explain' : pathOf(requestId)}>
      <h1>Explain a request</h1>
      <p className="lead">
        Every response has a request ID, in the header <code>X-Kong-Request-Id</code> and in the body of an error as <code>request_id</code>
        .
      </p>
      <AskForm requestId={requestId} />
      <Result tools={tools} explained={explained} />
    </PageFrame>
  );
}
