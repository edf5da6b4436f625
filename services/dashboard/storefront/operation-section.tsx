import { createElement, type ReactNode } from 'react';
import { type FieldRow, fieldOf, fieldsOf } from '../reference/schema-fields';
import { Answers, type CodesByStatus } from './answer-list';
import { Description, DescriptionLine } from './markdown';
import { type Operation, successOf } from './operations';
import { type CallTools, TryForm } from './try-form';

interface FieldsProps {
  readonly caption: string;
  readonly rows: readonly FieldRow[];
  /** What is answered is never required. */
  readonly isAnswer?: boolean;
}

/** Some answers have a hundred members: the markup of a row is kept short. */
function Fields({ caption, rows, isAnswer = false }: FieldsProps): ReactNode {
  if (rows.length === 0) return null;
  return (
    <table className="fields">
      <caption>{caption}</caption>
      <tbody>
        {rows.map(({ name, type, isRequired, notes, text }) => (
          <tr key={name}>
            <th>
              {name}
              {!isAnswer && <span className={isRequired ? 'required' : 'optional'}>{isRequired ? 'required' : 'optional'}</span>}
            </th>
            <td>
              <i>{type}</i>
              {notes !== '' && ` ${notes}`}
              {text !== '' && ' '}
              <DescriptionLine text={text} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Content = NonNullable<Operation['requestBody']>['content'];

/** Of the first shape that has members. */
function fieldsIn(content: Content = {}): readonly FieldRow[] {
  return (
    Object.values(content)
      .map(({ schema }) => (schema ? fieldsOf(schema) : []))
      .find((rows) => rows.length > 0) ?? []
  );
}

const PLACES = { path: 'Path', query: 'Query', header: 'Headers', cookie: 'Cookies' } as const;

function Input({ operation: { parameters = [], requestBody } }: { readonly operation: Operation }): ReactNode {
  if (parameters.length === 0 && !requestBody) return <p className="quiet">Takes no input other than the key.</p>;
  return (
    <>
      {(Object.keys(PLACES) as (keyof typeof PLACES)[]).map((place) => (
        <Fields
          key={place}
          caption={PLACES[place]}
          rows={parameters
            .filter((each) => each.in === place)
            .map(({ name, schema, description, required }) =>
              fieldOf(name, { ...schema, description: description ?? schema.description }, required ?? false),
            )}
        />
      ))}
      <Fields caption={`Body, as ${Object.keys(requestBody?.content ?? {}).join(' or ')}`} rows={fieldsIn(requestBody?.content)} />
    </>
  );
}

function AnswerFields({ responses }: Pick<Operation, 'responses'>): ReactNode {
  const rows = fieldsIn(successOf({ responses })?.content);
  if (rows.length === 0) return null;
  return (
    <details>
      <summary>Response fields</summary>
      <Fields caption="Response" rows={rows} isAnswer />
    </details>
  );
}

/** The operation's example as code, one language open at a time. */
function Samples({ operation }: { readonly operation: Operation }): ReactNode {
  const { operationId, method, path } = operation;
  return operation['x-codeSamples'].map(({ lang, label, source }, index) => (
    <details key={lang} name={`${operationId}-sample`} open={index === 0}>
      <summary>{label}</summary>
      <pre tabIndex={0} aria-label={`${method} ${path} with ${label}`} data-copy="code">
        <code>{source}</code>
      </pre>
    </details>
  ));
}

/** What a test key got for the example, or what the document says of it. */
function SampleAnswer({ operation: { method, path, responses } }: { readonly operation: Operation }): ReactNode {
  const success = successOf({ responses });
  if (!success?.sample) return null;
  const { value, isMade, description } = success.sample;
  const kind = isMade ? `Form of a ${success.status} response, made from its schema` : `Sample response, ${success.status}`;
  return (
    <>
      <p className="quiet sample">
        {kind}
        {description !== undefined && `. ${description}`}
      </p>
      <pre tabIndex={0} aria-label={`${method} ${path}, sample response`}>
        <code>{JSON.stringify(value, null, 2)}</code>
      </pre>
    </>
  );
}

interface OperationSectionProps {
  readonly operation: Operation;
  readonly shared: CodesByStatus;
  readonly tools: CallTools;
  /** Of its heading. */
  readonly level: 2 | 3;
}

/** One operation: words at the left, code at the right. */
export function OperationSection({ operation, shared, tools, level }: OperationSectionProps): ReactNode {
  const { operationId, method, path, summary, deprecated, description, responses } = operation;
  return (
    <section className="operation" id={operationId} aria-label={`${method} ${path}`}>
      {createElement(`h${level}`, undefined, summary)}
      <p className="route">
        <span className="method">{method}</span> <code>{path}</code>
        {deprecated === true && <span className="badge bad">Deprecated</span>}
      </p>
      <div className="beside">
        <div>
          {description !== undefined && <Description text={description} />}
          <Input operation={operation} />
          <AnswerFields responses={responses} />
          <Answers responses={responses} shared={shared} />
        </div>
        <div className="example">
          <Samples operation={operation} />
          <TryForm operation={operation} tools={tools} />
          <SampleAnswer operation={operation} />
        </div>
      </div>
    </section>
  );
}
