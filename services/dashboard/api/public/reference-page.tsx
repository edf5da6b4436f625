import { type ReactNode } from 'react';
import { type CatalogueProduct } from '../../../../plugins/core/catalogue';
import { type ApiOperation } from '../../contract/api-document';
import { type FieldRow, rowOf, rowsOf } from './field-rows';
import { type Operation } from './operations';
import { PageFrame, type PageTools } from './page-frame';
import { TryForm } from './try-form';
import { describeLimits, formatPrice, isOffered } from './wording';

function Fields({ caption, rows }: { readonly caption: string; readonly rows: readonly FieldRow[] }): ReactNode {
  if (rows.length === 0) return null;
  return (
    <table className="fields">
      <caption>{caption}</caption>
      <tbody>
        {rows.map(({ name, type, isRequired, description }) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
              {isRequired && <span className="required">required</span>}
            </th>
            <td>
              <span className="quiet">{type}</span>
              {description !== '' && <span className="block">{description}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Of the first shape that has members. */
function fieldsIn(content: NonNullable<ApiOperation['requestBody']>['content'] | undefined): readonly FieldRow[] {
  return (
    Object.values(content ?? {})
      .map(({ schema }) => (schema ? rowsOf(schema) : []))
      .find((rows) => rows.length > 0) ?? []
  );
}

/** The document writes codes between backticks; those of errors lead to what they mean. */
function withCodes(text: string, codes: readonly string[] = []): ReactNode {
  return text.split('`').map((part, index) => {
    if (index % 2 === 0) return part;
    const code = <code key={index}>{part}</code>;
    return codes.includes(part) ? (
      <a key={index} href={`/reference/errors#${part}`}>
        {code}
      </a>
    ) : (
      code
    );
  });
}

function Answers({ responses }: Pick<Operation, 'responses'>): ReactNode {
  return (
    <details>
      <summary>Status codes</summary>
      <dl className="answers">
        {Object.entries(responses).map(([status, { description, 'x-codes': codes }]) => (
          <div key={status}>
            <dt>{status}</dt>
            <dd>{withCodes(description, codes)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function OperationSection({ operation, canTry }: { readonly operation: Operation; readonly canTry: boolean }): ReactNode {
  const { operationId, method, path, summary, parameters = [], requestBody, responses } = operation;
  const curl = operation['x-codeSamples'].find(({ lang }) => lang === 'curl');
  return (
    <section className="operation" id={operationId} aria-labelledby={`${operationId}-title`}>
      <h2 id={`${operationId}-title`}>
        <span className="method">{method}</span> <code>{path}</code>
      </h2>
      <p>{summary}</p>
      {curl && (
        <pre tabIndex={0} aria-label={`${method} ${path} with curl`}>
          <code>{curl.source}</code>
        </pre>
      )}
      {canTry && <TryForm operation={operation} label="Run it here" />}
      <Fields caption="Query" rows={parameters.map(({ name, schema, required }) => rowOf(name, schema, required ?? false))} />
      <Fields caption="Body" rows={fieldsIn(requestBody?.content)} />
      <Fields caption="Response" rows={fieldsIn(responses['200']?.content).map((row) => ({ ...row, isRequired: false }))} />
      <Answers responses={responses} />
    </section>
  );
}

interface ReferencePageProps {
  readonly tools: PageTools;
  readonly product: CatalogueProduct;
  readonly operations: readonly Operation[];
}

/** One product: its limits, and every way to call it. */
export function ReferencePage({ tools, product, operations }: ReferencePageProps): ReactNode {
  const { id, title, description, base, plans } = product;
  const prices = plans.map((plan) => `${plan.name}, ${formatPrice(plan)} a month: ${describeLimits(plan)}`);
  const limits = [...(base ? [`Without a plan: ${describeLimits(base)}`] : []), ...prices];
  return (
    <PageFrame tools={tools} title={`${title} API`} description={description} path={`/reference/${id}`}>
      <p className="crumb">
        <a href="/reference">Reference</a>
      </p>
      <h1>{title}</h1>
      <p className="lead">{description}</p>
      <ul className="limits">
        {limits.map((limit) => (
          <li key={limit}>{limit}</li>
        ))}
      </ul>
      {operations.length > 1 && (
        <nav aria-label="Routes" className="routes">
          {operations.map(({ operationId, method, path }) => (
            <a key={operationId} href={`#${operationId}`}>
              {method} {path}
            </a>
          ))}
        </nav>
      )}
      {operations.map((operation) => (
        <OperationSection key={operation.operationId} operation={operation} canTry={tools.canTry} />
      ))}
    </PageFrame>
  );
}

interface ReferenceIndexProps {
  readonly tools: PageTools;
  readonly products: readonly CatalogueProduct[];
}

/** Where the reference of each product is, and what holds for all of them. */
export function ReferenceIndex({ tools, products }: ReferenceIndexProps): ReactNode {
  const description = 'How the key is sent, what limits and refusals look like, and every route of every product with an example.';
  return (
    <PageFrame tools={tools} title="API reference" description={description} path="/reference">
      <h1>API reference</h1>
      <p className="lead">{description}</p>
      <p>
        The base URL is <code>{tools.gatewayUrl}</code>. Send your key as <code>Authorization: Bearer …</code> or <code>X-API-Key: …</code>.
        Refusals are <code>application/problem+json</code> with a stable <code>code</code> and a <code>request_id</code>:{' '}
        <a href="/reference/errors">all errors and what to do</a>. Every admitted answer says in <code>RateLimit</code> what is left of the
        day and the month.
      </p>
      <ul className="cards">
        {products.filter(isOffered).map(({ id, title, description: what, routes, base }) => (
          <li key={id}>
            <a href={`/reference/${id}`}>{title}</a>
            <span className="block">{what}</span>
            <span className="quiet block">
              {routes.length} {routes.length === 1 ? 'route' : 'routes'}
              {base && `, ${describeLimits(base)} without a plan`}
            </span>
          </li>
        ))}
      </ul>
    </PageFrame>
  );
}
