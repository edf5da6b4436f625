import { Badge, Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type Product } from '../../../contract/plans';
import { productsQuery } from '../../api/queries';
import { DataTable, type Column } from '../../components/data-table';
import { Loaded } from '../../components/loaded';
import { PageTitle } from '../../components/page-title';
import { Panel } from '../../components/panel';

type Route = Product['routes'][number];

const COLUMNS: readonly Column<Route>[] = [
  { header: 'Path', isTitle: true, cell: ({ path }) => <span className="mono">{path}</span> },
  { header: 'Method', cell: ({ method }) => <Badge color="gray">{method === 'ANY' ? 'Any method' : method}</Badge> },
  { header: 'What it does', cell: ({ purpose }) => purpose },
];

/** The routes of every product. */
export function ReferencePage(): ReactNode {
  const query = useQuery(productsQuery);
  const document = (
    <Button component="a" href="/openapi.json" variant="default">
      OpenAPI document
    </Button>
  );
  return (
    <>
      <PageTitle title="API reference" actions={document}>
        The routes of every product. The OpenAPI document describes their input and output.
      </PageTitle>
      <Loaded query={query} height={900}>
        {({ products }) => (
          <Stack gap="md">
            {products
              .filter((product) => product.routes.length > 0)
              .map((product) => (
                <Panel
                  key={product.id}
                  title={product.title}
                  aside={
                    <Text size="sm" c="dimmed" className="mono">
                      {product.id}
                    </Text>
                  }
                >
                  <DataTable
                    caption={`Routes of ${product.title}`}
                    columns={COLUMNS}
                    rows={product.routes}
                    rowKey={({ method, path }) => `${method} ${path}`}
                  />
                </Panel>
              ))}
          </Stack>
        )}
      </Loaded>
    </>
  );
}
