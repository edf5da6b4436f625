import { Alert, List } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type CatalogueFile } from '../../contract/operator';
import { catalogueFileQuery } from '../parts/api/operator-queries';
import { DataTable, type Column } from '../parts/components/data-table';
import { EmptyState } from '../parts/components/empty-state';
import { Loaded } from '../parts/components/loaded';
import { Panel } from '../parts/components/panel';
import { Details } from '../customer/audit/audit-cells';

type Change = CatalogueFile['changes'][number];

const WORDS: Readonly<Record<Change['action'], string>> = { add: 'New', change: 'Changed', retire: 'No longer sold' };

const COLUMNS: readonly Column<Change>[] = [
  { header: 'Change', isTitle: true, cell: ({ action }) => WORDS[action] },
  { header: 'Of', cell: ({ subject }) => <span className="keep">{subject}</span> },
  { header: 'Now and then', isWide: true, cell: ({ details }) => <Details details={details} /> },
];

/** How the catalogue's file differs from what is sold. */
export function CatalogueFilePanel(): ReactNode {
  const query = useQuery(catalogueFileQuery);
  return (
    <Panel title="The file, not applied yet">
      <Loaded query={query} height={120}>
        {(data) => <Difference data={data} />}
      </Loaded>
    </Panel>
  );
}

function Difference({ data: { file, mistakes, changes } }: { readonly data: CatalogueFile }): ReactNode {
  if (file === null) {
    return (
      <EmptyState title="No file here">
        The dashboard does not have the folder of what is sold. <span className="mono">npx tollgate catalogue diff</span> compares it where
        it is.
      </EmptyState>
    );
  }
  if (mistakes.length > 0) {
    return (
      <Alert color="red" title={`${file} cannot be applied`}>
        <List size="sm">
          {mistakes.map((mistake) => (
            <List.Item key={mistake}>{mistake}</List.Item>
          ))}
        </List>
      </Alert>
    );
  }
  return (
    <>
      <p className="dimmed">
        What <span className="mono">npx tollgate catalogue apply</span> would change, by <span className="mono">{file}</span> as it is now.
      </p>
      <DataTable
        caption="Differences of the catalogue’s file"
        columns={COLUMNS}
        rows={changes}
        rowKey={({ action, subject }) => `${action} ${subject}`}
        empty={<EmptyState title="Nothing differs">What is sold is what the file says.</EmptyState>}
      />
    </>
  );
}
