import { Fragment, type ReactNode } from 'react';
import { type Operation } from './operations';

/** What each code means is on a page of its own. */
function Codes({ codes }: { readonly codes: readonly string[] }): ReactNode {
  return codes.map((code, index) => (
    <Fragment key={code}>
      {index > 0 && ', '}
      <a href={`/reference/errors#${code}`}>
        <code>{code}</code>
      </a>
    </Fragment>
  ));
}

/** Codes by status. */
export type CodesByStatus = Readonly<Record<string, readonly string[]>>;

/** What every operation of a product declares: said once. A single operation says all of it itself. */
export function sharedCodes([first, ...others]: readonly Operation[]): CodesByStatus {
  if (!first || others.length === 0) return {};
  const shared = Object.entries(first.responses).map(([status, { 'x-codes': codes = [] }]) => {
    const everywhere = codes.filter((code) => others.every(({ responses }) => responses[status]?.['x-codes']?.includes(code)));
    return [status, everywhere] as const;
  });
  return Object.fromEntries(shared.filter(([, codes]) => codes.length > 0));
}

/** At the end of a product's page. */
export function SharedAnswers({ shared }: { readonly shared: CodesByStatus }): ReactNode {
  if (Object.keys(shared).length === 0) return null;
  return (
    <section className="operation" aria-labelledby="every-route">
      <h2 id="every-route">Errors of every route</h2>
      <dl className="answers">
        {Object.entries(shared).map(([status, codes]) => (
          <div key={status}>
            <dt>{status}</dt>
            <dd>
              <Codes codes={codes} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The statuses of one operation, with the codes that not all share. */
export function Answers({ responses, shared }: Pick<Operation, 'responses'> & { readonly shared: CodesByStatus }): ReactNode {
  const own = Object.entries(responses).map(([status, { description, 'x-codes': codes }]) => ({
    status,
    description,
    codes: codes?.filter((code) => !shared[status]?.includes(code)),
  }));
  return (
    <details>
      <summary>Status codes</summary>
      <dl className="answers">
        {own
          .filter(({ codes }) => codes?.length !== 0)
          .map(({ status, description, codes }) => (
            <div key={status}>
              <dt>{status}</dt>
              <dd>{codes ? <Codes codes={codes} /> : description}</dd>
            </div>
          ))}
      </dl>
      {Object.keys(shared).length > 0 && (
        <p>
          And the <a href="#every-route">errors of every route</a>.
        </p>
      )}
    </details>
  );
}
