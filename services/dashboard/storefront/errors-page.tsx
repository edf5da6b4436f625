import { type ReactNode } from 'react';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { type ErrorCode } from '../contract/api-document';
import { CHARGES } from '../reference/error-codes';
import { PageFrame, type PageTools } from './page-frame';
import { MAX_TOGETHER, type ShownApi } from './shown-api';

interface ErrorsPageProps {
  readonly tools: PageTools;
  readonly products: readonly CatalogueProduct[];
  readonly api: ShownApi;
}

type ContentProps = Pick<ErrorsPageProps, 'products' | 'api'>;

function Senders({ code, products, api }: ContentProps & { readonly code: string }): ReactNode {
  const senders = products.filter(({ id }) => api.overview.senders[code]?.includes(id));
  if (senders.length === 0) return null;
  return (
    <span className="quiet block">
      Sent by{' '}
      {senders.map(({ id, title }, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <a href={`/reference/${id}`}>{title}</a>
        </span>
      ))}
    </span>
  );
}

function CodeRow({ error: { code, failures, remedy }, ...content }: ContentProps & { readonly error: ErrorCode }): ReactNode {
  return (
    <tr id={code}>
      <th scope="row">
        <a href={`#${code}`}>
          <code>{code}</code>
        </a>
      </th>
      <td data-label="Status">
        {failures.map(({ status, title, charge }) => (
          <span className="block" key={`${status} ${title}`}>
            <b>{status}</b> {title}. <span className="quiet">Charged: {CHARGES[charge].toLowerCase()}.</span>
          </span>
        ))}
      </td>
      <td data-label="What to do">
        {remedy}
        <Senders code={code} {...content} />
      </td>
    </tr>
  );
}

function Codes({ title, errors, ...content }: ContentProps & { readonly title: string; readonly errors: readonly ErrorCode[] }): ReactNode {
  return (
    <>
      <h2>{title}</h2>
      <table className="codes">
        <thead>
          <tr>
            <th scope="col">Code</th>
            <th scope="col">Status, meaning, charged</th>
            <th scope="col">What to do</th>
          </tr>
        </thead>
        <tbody>
          {errors.map((error) => (
            <CodeRow key={error.code} error={error} {...content} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function OtherSuccesses({ api }: Pick<ErrorsPageProps, 'api'>): ReactNode {
  const successes = api.overview.otherSuccesses;
  if (successes.length === 0) return null;
  return (
    <>
      <h2>Successes that are not 200</h2>
      <dl className="answers">
        {successes.map(({ status, description, operations }) => (
          <div key={status}>
            <dt>{status}</dt>
            <dd>
              {description}.{' '}
              <span className="quiet">
                {operations.slice(0, MAX_TOGETHER).join(', ')}
                {operations.length > MAX_TOGETHER && ` and ${operations.length - MAX_TOGETHER} more`}
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** Every code that products and the gateway send, on one page with an anchor for each. */
export function ErrorsPage({ tools, products, api }: ErrorsPageProps): ReactNode {
  const errors = api.overview['x-errors'];
  const own = errors.filter(({ isOwn }) => isOwn);
  const description = 'Every error code with its status, what it means, whether the request is charged, and what to do.';
  const content = { products, api };
  return (
    <PageFrame tools={tools} title="Errors" description={description} path="/reference/errors">
      <p className="crumb">
        <a href="/reference">Reference</a>
      </p>
      <h1>Errors</h1>
      <p className="lead">{description}</p>
      <p>
        Errors are <code>application/problem+json</code> (RFC 9457) with <code>type</code>, <code>title</code>, <code>status</code>,{' '}
        <code>detail</code>, <code>code</code> and <code>request_id</code>; <code>gateway_error</code> is <code>application/json</code>{' '}
        without <code>status</code>, or what <code>Accept</code> asks for. Decide by <code>code</code>: it is stable, texts may change.
        {own.length > 0 && (
          <>
            {' '}
            Some responses say more exactly in <code>reason</code> what failed; a reason that lies in your request, such as{' '}
            <code>locked</code>, <code>quota</code> or <code>too_complex</code>, is charged.
          </>
        )}
      </p>
      <Codes title="Errors of every product" errors={errors.filter(({ isOwn }) => !isOwn)} {...content} />
      {own.length > 0 && <Codes title="Errors of certain products" errors={own} {...content} />}
      <OtherSuccesses api={api} />
    </PageFrame>
  );
}
