import { Title } from '@mantine/core';
import { type ReactNode } from 'react';
import { type ApiOperation } from '../../../contract/api-document';
import { fieldsOf } from '../../app/schema-fields';
import { DataTable, type Column } from '../../components/data-table';
import { FieldTable } from './field-table';
import classes from './reference.module.css';

interface AnswerRow {
  readonly status: string;
  readonly types: string;
  /** As the document words them: "`code` Title; `code` Title". */
  readonly description: string;
}

const CODE = /^`(\w+)` (.*)$/;

function Meaning({ description }: { readonly description: string }): ReactNode {
  const parts = description.split('; ');
  if (!parts.every((part) => CODE.test(part))) return description;
  return (
    <ul className={classes['codes']}>
      {parts.map((part) => {
        const [, code = '', title = ''] = CODE.exec(part) ?? [];
        return (
          <li key={code}>
            <span className="mono breakable">{code}</span> <span className="dimmed">{title}</span>
          </li>
        );
      })}
    </ul>
  );
}

const COLUMNS: readonly Column<AnswerRow>[] = [
  { header: 'Status', isTitle: true, cell: ({ status }) => <span className="numbers">{status}</span> },
  { header: 'Meaning', cell: ({ description }) => <Meaning description={description} /> },
  { header: 'As', cell: ({ types }) => <span className="mono breakable">{types}</span> },
];

/** The answers by status, with the codes of refusals, and the fields of a success. */
export function AnswerTable({ operation }: { readonly operation: ApiOperation }): ReactNode {
  const rows = Object.entries(operation.responses).map(([status, { description, content = {} }]) => ({
    status,
    description,
    types: Object.keys(content).join(', ') || '–',
  }));
  const fields = fieldsOf(operation.responses['200']?.content?.['application/json']?.schema ?? {});
  return (
    <div>
      <Title order={3}>Answers</Title>
      <DataTable caption="Answers" columns={COLUMNS} rows={rows} rowKey={({ status }) => status} />
      {fields.length > 0 && (
        <details className="figures">
          <summary>Fields of a 200 answer</summary>
          <FieldTable title="Fields" fields={fields} />
        </details>
      )}
    </div>
  );
}
