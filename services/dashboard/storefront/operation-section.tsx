import { createElement, type ReactNode } from 'react';
import { type FieldRow } from '../reference/schema-fields';
import { Answers, type CodesByStatus } from './answer-list';
import { Description, DescriptionLine } from './markdown';
import { answerTable, type FieldTable, inputTables, sampleCaption } from './operation-tables';
import { type Operation, successOf } from './operations';
import { type CallTools, TryForm } from './try-form';

interface FieldsProps {
  readonly caption: string;
  readonly rows: readonly FieldRow[];
  /** What is answered is never required. */
  readonly isAnswer?: boolean;
}

/** Longer lists end with a link to all of it. */
const MAX_ROWS = 200;
/** Characters for all descriptions of a list. Each may have its share, and is cut behind it. */
const MAX_TEXTS = 40_000;
/** What all samples of an operation may have in bytes: the first languages are shown. */
const MAX_SAMPLES = 30_000;
const MAX_ANSWER = 20_000;

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text);

/** Some answers have a hundred members: the markup of a row is kept short. */
function Fields({ caption, rows, isAnswer = false }: FieldsProps): ReactNode {
  if (rows.length === 0) return null;
  const share = MAX_TEXTS / Math.min(rows.length, MAX_ROWS);
  return (
    <table className="fields">
      <caption>{caption}</caption>
      {rows.length > MAX_ROWS && (
        <tfoot>
          <tr>
            <td colSpan={2}>
              And {rows.length - MAX_ROWS} more, in the <a href="/openapi.json">OpenAPI document</a>.
            </td>
          </tr>
        </tfoot>
      )}
      <tbody>
        {rows.slice(0, MAX_ROWS).map(({ name, type, isRequired, notes, text }) => (
          <tr key={name}>
            <th>
              {name}
              {!isAnswer && <span className={isRequired ? 'required' : 'optional'}>{isRequired ? 'required' : 'optional'}</span>}
            </th>
            <td>
              <i>{type}</i>
              {notes !== '' && ` ${notes}`}
              {text !== '' && ' '}
              <DescriptionLine text={cut(text, share)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface TableProps {
  readonly table: FieldTable;
  readonly operation: Operation;
  readonly isAnswer?: boolean;
}

/** Fields, and those of each shape that a discriminator tells apart, one shape open at a time. */
function Table({ table: { caption, rows, variants }, operation: { operationId }, isAnswer = false }: TableProps): ReactNode {
  return (
    <>
      <Fields {...{ caption, rows, isAnswer }} />
      {variants.length > 0 && (
        <div className="tabs">
          {variants.map((variant, index) => (
            <details key={variant.value} name={`${operationId}-${isAnswer ? 'answer' : 'body'}`} open={index === 0}>
              <summary>{variant.value}</summary>
              <Fields caption={`${caption}: ${variant.value}`} rows={variant.rows} isAnswer={isAnswer} />
            </details>
          ))}
        </div>
      )}
    </>
  );
}

function Input({ operation }: { readonly operation: Operation }): ReactNode {
  if ((operation.parameters ?? []).length === 0 && !operation.requestBody)
    return <p className="quiet">Takes no input other than the key.</p>;
  return inputTables(operation).map((table) => <Table key={table.caption} table={table} operation={operation} />);
}

function AnswerFields({ operation }: { readonly operation: Operation }): ReactNode {
  const table = answerTable(operation);
  if (!table) return null;
  return (
    <details>
      <summary>Response fields</summary>
      <Table table={table} operation={operation} isAnswer />
    </details>
  );
}

/** The operation's example as code, one language open at a time. The page's script colours it: markup would be heavier than the code. */
function Samples({ operation }: { readonly operation: Operation }): ReactNode {
  const { operationId, method, path } = operation;
  let bytes = 0;
  const shown = operation['x-codeSamples'].filter(({ source }) => (bytes += source.length) <= MAX_SAMPLES);
  return (
    <div className="tabs languages">
      {shown.map(({ lang, label, source }, index) => (
        <details key={lang} name={`${operationId}-sample`} open={index === 0}>
          <summary>{label}</summary>
          <pre tabIndex={0} aria-label={`${method} ${path} with ${label}`} data-language={lang === 'curl' ? 'shell' : undefined}>
            <code>{source}</code>
          </pre>
        </details>
      ))}
    </div>
  );
}

/** What a test key got for the example, or what the document says of it. */
function SampleAnswer({ operation }: { readonly operation: Operation }): ReactNode {
  const sample = successOf(operation)?.sample;
  if (!sample) return null;
  return (
    <>
      <p className="quiet sample">{sampleCaption(operation)}</p>
      <pre tabIndex={0} aria-label={`${operation.method} ${operation.path}, sample response`} data-language="json">
        <code>{cut(JSON.stringify(sample.value, null, 2), MAX_ANSWER)}</code>
      </pre>
    </>
  );
}

interface OperationSectionProps {
  readonly operation: Operation;
  readonly shared: CodesByStatus;
  readonly tools: CallTools;
  /** Level of its heading. */
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
          <AnswerFields operation={operation} />
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
