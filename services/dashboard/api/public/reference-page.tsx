import { Fragment, type ReactNode } from 'react';
import { type CatalogueProduct } from '../../../../plugins/core/catalogue';
import { type ApiOperation } from '../../contract/api-document';
import { type FieldRow, fieldOf, fieldsOf } from '../../contract/schema-fields';
import { type Operation } from './operations';
import { PageFrame, type PageTools } from './page-frame';
import { TryForm } from './try-form';
import { describeLimits, formatPrice, isOffered } from './wording';

interface FieldsProps {
  readonly caption: string;
  readonly rows: readonly FieldRow[];
  /** Nobody has to send what is answered. */
  readonly isAnswer?: boolean;
}

function Fields({ caption, rows, isAnswer = false }: FieldsProps): ReactNode {
  if (rows.length === 0) return null;
  return (
    <table className="fields">
      <caption>{caption}</caption>
      <tbody>
        {rows.map(({ name, type, isRequired, notes }) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
              {!isAnswer && <span className={isRequired ? 'required' : 'optional'}>{isRequired ? 'required' : 'optional'}</span>}
            </th>
            <td>
              <span className="quiet">{type}</span>
              {notes !== '' && <span className="block">{notes}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Deeper levels are in the OpenAPI document. */
const LEVELS = 2;

/** Of the first shape that has members. */
function fieldsIn(content: NonNullable<ApiOperation['requestBody']>['content'] | undefined): readonly FieldRow[] {
  return (
    Object.values(content ?? {})
      .map(({ schema }) => (schema ? fieldsOf(schema, LEVELS) : []))
      .find((rows) => rows.length > 0) ?? []
  );
}

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

function Answers({ responses }: Pick<Operation, 'responses'>): ReactNode {
  return (
    <details>
      <summary>Status codes</summary>
      <dl className="answers">
        {Object.entries(responses).map(([status, { description, 'x-codes': codes }]) => (
          <div key={status}>
            <dt>{status}</dt>
            <dd>{codes ? <Codes codes={codes} /> : description}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function AnswerFields({ responses }: Pick<Operation, 'responses'>): ReactNode {
  const rows = fieldsIn(responses['200']?.content);
  if (rows.length === 0) return null;
  return (
    <details>
      <summary>Response fields</summary>
      <Fields caption="Response" rows={rows} isAnswer />
    </details>
  );
}

/** What a test key got for the example. */
function SampleAnswer({ operation: { method, path, responses } }: { readonly operation: Operation }): ReactNode {
  const sample = responses['200']?.content?.['application/json']?.example;
  if (sample === undefined) return null;
  return (
    <>
      <p className="quiet sample">Sample response</p>
      <pre tabIndex={0} aria-label={`${method} ${path}, sample response`}>
        <code>{JSON.stringify(sample, null, 2)}</code>
      </pre>
    </>
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
      <div className="beside">
        <div>
          <p>{summary}</p>
          <Fields caption="Query" rows={parameters.map(({ name, schema, required }) => fieldOf(name, schema, required ?? false))} />
          <Fields caption="Body" rows={fieldsIn(requestBody?.content)} />
          <AnswerFields responses={responses} />
          <Answers responses={responses} />
        </div>
        <div className="example">
          {curl && (
            <pre tabIndex={0} aria-label={`${method} ${path} with curl`}>
              <code>{curl.source}</code>
            </pre>
          )}
          {canTry && <TryForm operation={operation} label="Run it here" />}
          <SampleAnswer operation={operation} />
        </div>
      </div>
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
