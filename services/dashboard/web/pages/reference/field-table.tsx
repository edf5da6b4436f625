import { Text, Title } from '@mantine/core';
import { type ReactNode } from 'react';
import { type FieldRow } from '../../../contract/schema-fields';
import { DataTable, type Column } from '../../components/data-table';
import classes from './reference.module.css';

function columnsOf(isAnswer: boolean): readonly Column<FieldRow>[] {
  return [
    { header: 'Field', isTitle: true, cell: ({ name }) => <span className={`mono ${classes['whole']}`}>{name}</span> },
    {
      header: 'Type',
      cell: ({ type, isRequired }) => (
        <span className={classes['whole']}>
          {type}
          {!isAnswer && (isRequired ? <strong>, required</strong> : <span className="dimmed">, optional</span>)}
        </span>
      ),
    },
    { header: 'Notes', isHeaderHidden: true, cell: ({ notes }) => notes },
  ];
}

interface FieldTableProps {
  readonly title: string;
  readonly fields: readonly FieldRow[];
  /** Nobody has to send what is answered. */
  readonly isAnswer?: boolean;
  /** A sentence below the title. */
  readonly children?: ReactNode;
}

/** Members of an input or an answer. */
export function FieldTable({ title, fields, isAnswer = false, children }: FieldTableProps): ReactNode {
  return (
    <div>
      <Title order={3}>{title}</Title>
      {children !== undefined && (
        <Text size="sm" c="dimmed">
          {children}
        </Text>
      )}
      <DataTable caption={title} columns={columnsOf(isAnswer)} rows={fields} rowKey={({ name }) => name} hasLines />
    </div>
  );
}
