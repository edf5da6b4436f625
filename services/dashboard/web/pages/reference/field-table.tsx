import { Text, Title } from '@mantine/core';
import { type ReactNode } from 'react';
import { type FieldRow } from './schema-fields';
import { DataTable, type Column } from '../../components/data-table';
import classes from './reference.module.css';

const COLUMNS: readonly Column<FieldRow>[] = [
  { header: 'Field', isTitle: true, cell: ({ name }) => <span className={`mono ${classes['whole']}`}>{name}</span> },
  {
    header: 'Type',
    cell: ({ type, isRequired }) => (
      <span className={classes['whole']}>
        {type}
        {isRequired && <strong>, required</strong>}
      </span>
    ),
  },
  { header: 'Notes', isHeaderHidden: true, cell: ({ notes }) => notes },
];

interface FieldTableProps {
  readonly title: string;
  readonly fields: readonly FieldRow[];
  /** A sentence below the title. */
  readonly children?: ReactNode;
}

/** Members of an input or an answer. */
export function FieldTable({ title, fields, children }: FieldTableProps): ReactNode {
  return (
    <div>
      <Title order={3}>{title}</Title>
      {children !== undefined && (
        <Text size="sm" c="dimmed">
          {children}
        </Text>
      )}
      <DataTable caption={title} columns={COLUMNS} rows={fields} rowKey={({ name }) => name} hasLines />
    </div>
  );
}
