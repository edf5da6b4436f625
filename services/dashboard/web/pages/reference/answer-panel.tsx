import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type ApiOperation } from '../../../contract/api-document';
import { fieldsOf } from '../../../contract/schema-fields';
import { DataTable, type Column } from '../../components/data-table';
import { Panel } from '../../components/panel';
import { FieldTable } from './field-table';
import classes from './reference.module.css';

interface AnswerRow {
  readonly status: string;
  /** Media types of a success. */
  readonly types: readonly string[];
  /** As the document words refusals: "`code` Title; `code` Title". */
  readonly description: string;
}

const CODE = /^`(\w+)` (.*)$/;

function Meaning({ description, types }: AnswerRow): ReactNode {
  const parts = description.split('; ');
  if (!parts.every((part) => CODE.test(part))) {
    return (
      <>
        {description}
        {types.length > 0 && <span className="dimmed"> as {types.join(' or ')}</span>}
      </>
    );
  }
  return (
    <ul className={classes['codes']}>
      {parts.map((part) => {
        const [, code = '', title = ''] = CODE.exec(part) ?? [];
        return (
          <li key={code}>
            <Link to="/reference/errors" hash={code} className="text-link mono breakable">
              {code}
            </Link>{' '}
            <span className="dimmed">{title}</span>
          </li>
        );
      })}
    </ul>
  );
}

const COLUMNS: readonly Column<AnswerRow>[] = [
  { header: 'Status', isTitle: true, cell: ({ status }) => <span className="numbers">{status}</span> },
  { header: 'Meaning', isHeaderHidden: true, cell: (row) => <Meaning {...row} /> },
];

/** The answers by status, with the codes of refusals, and the fields of a success. */
export function AnswerPanel({ operation }: { readonly operation: ApiOperation }): ReactNode {
  const rows = Object.entries(operation.responses).map(([status, { description, content = {} }]) => ({
    status,
    description,
    types: Object.keys(content),
  }));
  const fields = fieldsOf(operation.responses['200']?.content?.['application/json']?.schema ?? {});
  return (
    <Panel title="Responses">
      <Text size="sm" c="dimmed" mb="xs">
        Errors are <span className="mono breakable">application/problem+json</span>. Rely on the code: texts may change.{' '}
        <Link to="/reference/errors" className="text-link in-text">
          All errors and what to do
        </Link>
      </Text>
      <DataTable caption="Responses by status" columns={COLUMNS} rows={rows} rowKey={({ status }) => status} />
      {fields.length > 0 && (
        <details className="figures">
          <summary>Fields of a 200 response</summary>
          <FieldTable title="Fields" fields={fields} isAnswer />
        </details>
      )}
    </Panel>
  );
}
