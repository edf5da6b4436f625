import { Alert, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { planName } from '../../reference/plan-name';
import { type CatalogueFile, type OperatorCatalogue, type ProductFigures } from '../../contract/operator';
import { catalogueFileQuery, catalogueQuery, figuresQuery } from '../parts/api/operator-queries';
import { formatCount, formatPrice } from '../parts/format/numbers';
import { DataTable, type Column } from '../parts/components/data-table';
import { EmailText } from '../parts/components/email-text';
import { EmptyState } from '../parts/components/empty-state';
import { Loaded } from '../parts/components/loaded';
import { Moment } from '../parts/components/moment';
import { PageTitle } from '../parts/components/page-title';
import { Panel } from '../parts/components/panel';
import { actionName } from '../customer/audit/action-names';
import { Details } from '../customer/audit/audit-cells';
import { thenText } from '../customer/plans/offers';
import { ProductAnswers } from './product-answers';
import { ProductTitle } from './product-title';

type CatalogueEntry = OperatorCatalogue['products'][number];
type Change = OperatorCatalogue['changes'][number];
type Figures = ProductFigures['figures'][number];

const FIGURES: readonly Column<Figures>[] = [
  { header: 'Product', isTitle: true, cell: ({ product }) => <ProductTitle of={product} /> },
  { header: 'Plan', cell: ({ plan }) => planName(plan) },
  { header: 'Subscriptions', isNumber: true, cell: ({ subscriptions }) => formatCount(subscriptions) },
  {
    header: 'A month at list price',
    isNumber: true,
    cell: ({ revenue, currency }) => (revenue === null || currency === null ? '–' : formatPrice({ price: revenue, currency })),
  },
  { header: 'Used', isNumber: true, cell: ({ charged, refunded }) => formatCount(charged - refunded) },
  { header: 'Most customers a day', isNumber: true, cell: ({ mostCustomersADay }) => formatCount(mostCustomersADay) },
  { header: 'Given back', isNumber: true, cell: ({ refunded }) => formatCount(refunded) },
];

const limitsOf = (base: CatalogueEntry['base']): string =>
  base === null ? 'none' : `${formatCount(base.daily)} a day, ${formatCount(base.monthly)} a month`;

const CATALOGUE: readonly Column<CatalogueEntry>[] = [
  { header: 'Product', isTitle: true, cell: ({ title }) => title },
  { header: 'ID', cell: ({ id }) => <span className="mono keep">{id}</span> },
  { header: 'Base limits', cell: ({ base }) => limitsOf(base) },
  {
    header: 'Plans',
    isWide: true,
    cell: ({ plans }) => (plans.length === 0 ? '–' : plans.map((plan) => `${plan.name} ${formatPrice(plan)}${thenText(plan)}`).join('; ')),
  },
  { header: 'Sold', cell: ({ subscribable }) => (subscribable ? 'yes' : 'listed only') },
  { header: 'Stands in', cell: ({ source }) => (source === null ? '–' : <span className="mono keep">{source.split('/').at(-1)}</span>) },
];

const CHANGES: readonly Column<Change>[] = [
  { header: 'Change', isTitle: true, cell: ({ action }) => actionName(action) },
  { header: 'Of', cell: ({ subject }) => <span className="keep">{subject}</span> },
  { header: 'Time', cell: ({ at }) => <Moment at={at} isExact /> },
  { header: 'By', cell: ({ actor }) => <EmailText text={actor} /> },
  { header: 'Details', isWide: true, cell: ({ details }) => <Details details={details} /> },
];

/** What is sold, with its figures. */
export function ProductsPage(): ReactNode {
  const figures = useQuery(figuresQuery);
  const catalogue = useQuery(catalogueQuery);
  return (
    <>
      <PageTitle title="Products">What is sold, how it is used and how it answers.</PageTitle>
      <Stack gap="md">
        <Panel title="Answers">
          <Loaded query={figures} height={200}>
            {(data) => <ProductAnswers figures={data} />}
          </Loaded>
        </Panel>
        <Panel title="Use">
          <Text size="sm" c="dimmed" mb="sm">
            With live keys in the last 30 days, up to a minute old.
          </Text>
          <Loaded query={figures} height={300}>
            {(data) => (
              <DataTable
                caption="Figures by product and plan"
                columns={FIGURES}
                rows={data.figures}
                rowKey={({ product, plan }) => `${product} ${plan ?? ''}`}
                empty={<EmptyState title="Nothing sold yet">Figures appear a minute after the first subscription.</EmptyState>}
              />
            )}
          </Loaded>
        </Panel>
        <Panel title="Catalogue">
          <Loaded query={catalogue} height={300}>
            {({ products }) => (
              <>
                <Text size="sm" c="dimmed" mb="sm">
                  Changed in <span className="mono">catalogue.yml</span> and applied with{' '}
                  <span className="mono">npx tollgate catalogue apply</span>.
                </Text>
                <DataTable
                  caption="Catalogue"
                  columns={CATALOGUE}
                  rows={products}
                  rowKey={({ id }) => id}
                  empty={
                    <EmptyState title="No products yet">
                      <span className="mono">npx tollgate product new weather --url http://127.0.0.1:9000</span>, then{' '}
                      <span className="mono">npx tollgate catalogue apply</span>, sells a first one.
                    </EmptyState>
                  }
                />
              </>
            )}
          </Loaded>
        </Panel>
        <CatalogueFilePanel />
        <Panel title="Changes of the catalogue">
          <Loaded query={catalogue} height={200}>
            {({ changes }) => (
              <>
                <Text size="sm" c="dimmed" mb="sm">
                  The newest that were applied, and by whom.
                </Text>
                <DataTable
                  caption="Changes of the catalogue"
                  columns={CHANGES}
                  rows={changes}
                  rowKey={({ at, action, subject }) => `${at} ${action} ${subject}`}
                  empty={<EmptyState title="No changes yet">What is applied to the catalogue appears here.</EmptyState>}
                />
              </>
            )}
          </Loaded>
        </Panel>
      </Stack>
    </>
  );
}

type FileChange = CatalogueFile['changes'][number];

const WORDS: Readonly<Record<FileChange['action'], string>> = { add: 'New', change: 'Changed', retire: 'No longer sold' };

const FILE_CHANGES: readonly Column<FileChange>[] = [
  { header: 'Change', isTitle: true, cell: ({ action }) => WORDS[action] },
  { header: 'Of', cell: ({ subject }) => <span className="keep">{subject}</span> },
  { header: 'Now and then', isWide: true, cell: ({ details }) => <Details details={details} /> },
];

/** How the catalogue's file differs from what is sold. */
function CatalogueFilePanel(): ReactNode {
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
        columns={FILE_CHANGES}
        rows={changes}
        rowKey={({ action, subject }) => `${action} ${subject}`}
        empty={<EmptyState title="Nothing differs">What is sold is what the file says.</EmptyState>}
      />
    </>
  );
}
