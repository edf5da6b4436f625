import { Text, Title } from '@mantine/core';
import { type ReactNode } from 'react';
import { type FieldRow } from '../../app/schema-fields';
import { DataTable, type Column } from '../../components/data-table';

const NAME: Column<FieldRow> = { header: 'Field', isTitle: true, cell: ({ name }) => <span className="mono breakable">{name}</span> };
const TYPE: Column<FieldRow> = { header: 'Type', cell: ({ type }) => type };
const REQUIRED: Column<FieldRow> = { header: 'Required', cell: ({ isRequired }) => (isRequired ? 'yes' : 'no') };
const NOTES: Column<FieldRow> = { header: 'Notes', cell: ({ notes }) => (notes === '' ? '–' : <span className="breakable">{notes}</span>) };

interface FieldTableProps {
  readonly title: string;
  readonly fields: readonly FieldRow[];
  readonly hasRequired?: boolean;
  /** A sentence below the title. */
  readonly children?: ReactNode;
}

/** Members of an input or an answer. */
export function FieldTable({ title, fields, hasRequired = false, children }: FieldTableProps): ReactNode {
  return (
    <div>
      <Title order={3}>{title}</Title>
      {children !== undefined && (
        <Text size="sm" c="dimmed">
          {children}
        </Text>
      )}
      <DataTable
        caption={title}
        columns={hasRequired ? [NAME, TYPE, REQUIRED, NOTES] : [NAME, TYPE, NOTES]}
        rows={fields}
        rowKey={({ name }) => name}
      />
    </div>
  );
}
