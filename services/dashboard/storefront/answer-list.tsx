import { type ReactNode } from 'react';
import { DescriptionLine } from './markdown';
import { type Operation } from './operations';

/** A code with its title. */
interface Meaning {
  readonly code: string;
  readonly title: string;
}

/** The document words refusals as "`code` Title; `code` Title". Undefined for a response that declares no codes. */
function codesOf({ description, 'x-codes': codes }: Operation['responses'][string]): readonly Meaning[] | undefined {
  if (codes === undefined) return undefined;
  return [...description.matchAll(/`(\w+)` ([^;]*)/g)].map(([, code = '', title = '']) => ({ code, title }));
}

/** The full meaning of each code is on a page of its own. */
function Codes({ codes }: { readonly codes: readonly Meaning[] }): ReactNode {
  return codes.map(({ code, title }) => (
    <div key={code}>
      <a href={`/reference/errors#${code}`}>
        <code>{code}</code>
      </a>{' '}
      <span className="quiet">{title}</span>
    </div>
  ));
}

/** Codes by status. */
export type CodesByStatus = Readonly<Record<string, readonly Meaning[]>>;

/** The codes that every operation of a product declares, so that they are shown once. A single operation shows all of its codes itself. */
export function sharedCodes([first, ...others]: readonly Operation[]): CodesByStatus {
  if (!first || others.length === 0) return {};
  const shared = Object.entries(first.responses).map(([status, response]) => {
    const everywhere = (codesOf(response) ?? []).filter(({ code }) =>
      others.every(({ responses }) => responses[status]?.['x-codes']?.includes(code)),
    );
    return [status, everywhere] as const;
  });
  return Object.fromEntries(shared.filter(([, codes]) => codes.length > 0));
}

function Answer({ status, children }: { readonly status: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{status}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Codes shared by all operations, at the end of a product's page. */
export function SharedAnswers({ shared }: { readonly shared: CodesByStatus }): ReactNode {
  if (Object.keys(shared).length === 0) return null;
  return (
    <section className="operation" aria-labelledby="every-route">
      <h2 id="every-route">Errors of every route</h2>
      <dl className="answers">
        {Object.entries(shared).map(([status, codes]) => (
          <Answer key={status} status={status}>
            <Codes codes={codes} />
          </Answer>
        ))}
      </dl>
    </section>
  );
}

/** The statuses of one operation, with the codes that are not shared by all. */
export function Answers({ responses, shared }: Pick<Operation, 'responses'> & { readonly shared: CodesByStatus }): ReactNode {
  const own = Object.entries(responses).map(([status, response]) => ({
    status,
    response,
    codes: codesOf(response)?.filter(({ code }) => !shared[status]?.some((known) => known.code === code)),
  }));
  return (
    <details>
      <summary>Status codes</summary>
      <dl className="answers">
        {own
          .filter(({ codes }) => codes?.length !== 0)
          .map(({ status, response: { description, content = {} }, codes }) => (
            <Answer key={status} status={status}>
              {codes ? <Codes codes={codes} /> : <DescriptionLine text={description} />}
              {!codes && Object.keys(content).length > 0 && <span className="quiet"> as {Object.keys(content).join(' or ')}</span>}
            </Answer>
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
