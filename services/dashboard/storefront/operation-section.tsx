import { createElement, type ReactNode } from 'react';
import { type FieldRow } from '../reference/schema-fields';
import { Answers, type CodesByStatus } from './answer-list';
import { Description, DescriptionLine } from './markdown';
import { answerTable, type FieldTable, inputTables, sampleCaption } from './operation-tables';
import { type Operation, successOf } from './operations';
import { type TryTools, TryForm } from './try-form';

/** The limits of each list of fields on an operation's page. */
interface Share {
  /** A longer list ends with a link to all of it. */
  readonly rows: number;
  /** Maximum characters of each text in it. Longer ones are cut. */
  readonly text: number;
}

interface FieldsProps {
  readonly caption: string;
  readonly rows: readonly FieldRow[];
  readonly share: Share;
  /** Fields of a response are never required. */
  readonly isAnswer?: boolean;
}

/** Maximum fields of an operation, in all its lists. */
const MAX_ROWS = 400;
/** Maximum characters of all their texts. */
const MAX_TEXTS = 60_000;
/** Maximum shapes shown as tabs. Further ones are counted. */
const MAX_VARIANTS = 40;
/** Maximum bytes of all samples of an operation: the first languages are shown. */
const MAX_SAMPLES = 30_000;
const MAX_ANSWER = 20_000;
/** Maximum characters of an operation's description: one Markdown sign may become ten characters of markup. */
const MAX_WORDS = 12_000;

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text);

/** Some responses have a hundred members, so the markup of a row is kept short. */
function Fields({ caption, rows, share, isAnswer = false }: FieldsProps): ReactNode {
  if (rows.length === 0) return null;
  return (
    <table className="fields">
      <caption>{caption}</caption>
      {rows.length > share.rows && (
        <tfoot>
          <tr>
            <td colSpan={2}>
              And {rows.length - share.rows} more, in the <a href="/openapi.json">OpenAPI document</a>.
            </td>
          </tr>
        </tfoot>
      )}
      <tbody>
        {rows.slice(0, share.rows).map(({ name, type, isRequired, notes, text }) => (
          <tr key={name}>
            <th>
              {cut(name, share.text)}
              {!isAnswer && <span className={isRequired ? 'required' : 'optional'}>{isRequired ? 'required' : 'optional'}</span>}
            </th>
            <td>
              <i>{cut(type, share.text)}</i>
              {notes !== '' && ` ${cut(notes, share.text)}`}
              {text !== '' && ' '}
              <DescriptionLine text={cut(text, share.text)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Equal shares if there is too much for a page. */
function shareOf(tables: readonly FieldTable[]): Share {
  const lists = tables.flatMap(({ rows, variants }) => [rows, ...variants.slice(0, MAX_VARIANTS).map((each) => each.rows)]);
  const countUpTo = (most: number): number => lists.reduce((sum, { length }) => sum + Math.min(length, most), 0);
  const rows = countUpTo(Infinity) <= MAX_ROWS ? MAX_ROWS : Math.ceil(MAX_ROWS / lists.length);
  return { rows, text: Math.ceil(MAX_TEXTS / Math.max(1, countUpTo(rows))) };
}

interface TableProps {
  readonly table: FieldTable;
  readonly operation: Operation;
  readonly share: Share;
  readonly isAnswer?: boolean;
}

/** Fields, and those of each shape of a discriminator, with one shape open at a time. */
function Table({ table: { caption, rows, variants }, operation: { operationId }, share, isAnswer = false }: TableProps): ReactNode {
  return (
    <>
      <Fields {...{ caption, rows, share, isAnswer }} />
      {variants.length > 0 && (
        <div className="tabs">
          {variants.slice(0, MAX_VARIANTS).map((variant, index) => (
            <details key={variant.value} name={`${operationId}-${isAnswer ? 'answer' : 'body'}`} open={index === 0}>
              <summary>{variant.value}</summary>
              <Fields caption={`${caption}: ${variant.value}`} rows={variant.rows} share={share} isAnswer={isAnswer} />
            </details>
          ))}
          {variants.length > MAX_VARIANTS && <p>And {variants.length - MAX_VARIANTS} more shapes.</p>}
        </div>
      )}
    </>
  );
}

interface PartProps {
  readonly operation: Operation;
  readonly share: Share;
}

function Input({ operation, share }: PartProps): ReactNode {
  if ((operation.parameters ?? []).length === 0 && !operation.requestBody)
    return <p className="quiet">Takes no input other than the key.</p>;
  return inputTables(operation).map((table) => <Table key={table.caption} {...{ table, operation, share }} />);
}

function AnswerFields({ operation, share }: PartProps): ReactNode {
  const table = answerTable(operation);
  if (!table) return null;
  return (
    <details>
      <summary>Response fields</summary>
      <Table {...{ table, operation, share }} isAnswer />
    </details>
  );
}

/**
 * The operation's example as code, with one language open at a time. The page's script colours it, because markup would be heavier than the
 * code.
 */
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

/** The response of a test key to the example, or the one in the document. */
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
  readonly tools: TryTools;
  /** Heading level. */
  readonly level: 2 | 3;
}

/** One operation: text on the left, code on the right. */
export function OperationSection({ operation, shared, tools, level }: OperationSectionProps): ReactNode {
  const { operationId, method, path, summary, deprecated, description, responses } = operation;
  const share = shareOf([...inputTables(operation), ...[answerTable(operation) ?? []].flat()]);
  return (
    <section className="operation" id={operationId} aria-label={`${method} ${path}`}>
      {createElement(`h${level}`, undefined, summary)}
      <p className="route">
        <span className="method">{method}</span> <code>{path}</code>
        {deprecated === true && <span className="badge bad">Deprecated</span>}
      </p>
      <div className="beside">
        <div>
          {description !== undefined && <Description text={cut(description, MAX_WORDS)} />}
          <Input operation={operation} share={share} />
          <AnswerFields operation={operation} share={share} />
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
