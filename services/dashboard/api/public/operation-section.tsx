import { type ReactNode } from 'react';
import { type ApiOperation } from '../../contract/api-document';
import { type FieldRow, fieldOf, fieldsOf } from '../../contract/schema-fields';
import { Answers, type CodesByStatus } from './answer-list';
import { type Operation } from './operations';
import { TryForm } from './try-form';

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

interface OperationSectionProps {
  readonly operation: Operation;
  readonly shared: CodesByStatus;
  readonly canTry: boolean;
}

/** One operation: words at the left, code at the right. */
export function OperationSection({ operation, shared, canTry }: OperationSectionProps): ReactNode {
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
          <Answers responses={responses} shared={shared} />
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
