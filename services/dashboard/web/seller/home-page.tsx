import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperatorHome } from '../../contract/operator-home';
import { homeQuery } from '../parts/api/operator-queries';
import { formatCount, formatPrice } from '../parts/format/numbers';
import { Loaded } from '../parts/components/loaded';
import { Moment } from '../parts/components/moment';
import { PageTitle } from '../parts/components/page-title';
import { Panel } from '../parts/components/panel';
import { sumAnswers } from '../customer/usage/answers';
import { CUSTOMERS_SEARCH } from './customers-search';
import { Figure } from './figure';
import { Failures, Within } from './product-answers';
import { ProductTitle } from './product-title';
import { REQUESTS_SEARCH } from '../parts/format/requests-search';
import { EmptyState } from '../parts/components/empty-state';
import { type Column, DataTable } from '../parts/components/data-table';
import { useSoldTitles } from '../parts/hooks/use-product-titles';

type Part = OperatorHome['products'][number]['period'];

/** Sum of all products. */
function sumOf(parts: readonly Part[]): Part {
  const answers = sumAnswers(parts.map((part) => part.answers));
  return {
    admitted: parts.reduce((sum, { admitted }) => sum + admitted, 0),
    answers: answers && { ...answers, took: [...answers.took] },
  };
}

/** The state of the business, and what waits for the seller. Each figure leads to the list that it counts. */
export function HomePage(): ReactNode {
  const query = useQuery(homeQuery);
  return (
    <>
      <PageTitle title="Home">How your APIs are used and sold, and what waits for you.</PageTitle>
      <Loaded query={query} height={600}>
        {(home) => (
          <Stack gap="md">
            <Waiting home={home} />
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
              <Traffic title="Today" of={sumOf(home.products.map(({ today }) => today))} boundsMs={home.answerTimesMs} />
              <Traffic title="30 days" of={sumOf(home.products.map(({ period }) => period))} boundsMs={home.answerTimesMs} />
            </SimpleGrid>
            <BusinessPanel of={home.business} />
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
              <TopPanel title="Most requests in 30 days" sort="used" rows={home.topByUse} />
              <TopPanel title="Grown most in 30 days" sort="growth" rows={home.topByGrowth} />
            </SimpleGrid>
            <FailingPanel products={home.products} />
          </Stack>
        )}
      </Loaded>
    </>
  );
}

/** What needs the seller's attention now. */
function Waiting({ home: { outages, plansWaiting, nodes } }: { readonly home: OperatorHome }): ReactNode {
  return (
    <Panel title="Now">
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Figure
          name="Products failing"
          value={
            <Link to="/operator/products" className="text-link">
              {outages.length === 0 ? 'none' : outages.map(({ title }) => title).join(', ')}
            </Link>
          }
        />
        <Figure
          name="Plan requests waiting"
          value={
            <Link to="/operator/customers" search={CUSTOMERS_SEARCH} className="text-link">
              {plansWaiting.count === 0 ? 'none' : formatCount(plansWaiting.count)}
            </Link>
          }
          note={
            plansWaiting.since !== null && (
              <>
                the oldest <Moment at={plansWaiting.since} />
              </>
            )
          }
        />
        <Figure
          name="Gateway nodes"
          value={
            <Link to="/operator/nodes" className="text-link">
              {nodes.live + nodes.reading === 0 ? 'none' : `${formatCount(nodes.live + nodes.reading)} live`}
            </Link>
          }
          note={[
            nodes.reading > 0 && `${formatCount(nodes.reading)} without the feed of changes`,
            nodes.gone > 0 && `${formatCount(nodes.gone)} gone within a day`,
          ]
            .filter(Boolean)
            .join(', ')}
        />
      </SimpleGrid>
    </Panel>
  );
}

interface TrafficProps {
  readonly title: string;
  readonly of: Part;
  readonly boundsMs: readonly number[];
}

function Traffic({ title, of, boundsMs }: TrafficProps): ReactNode {
  return (
    <Panel
      title={title}
      aside={
        <Link to="/operator/products" className="text-link">
          By product
        </Link>
      }
    >
      <SimpleGrid cols={{ base: 2, xs: 3 }}>
        <Figure
          name="Requests"
          value={
            <Link to="/operator/requests" search={{ ...REQUESTS_SEARCH, outcome: 'admitted' }} className="text-link">
              {formatCount(of.admitted)}
            </Link>
          }
        />
        <Figure
          name="Failed"
          value={
            <Link to="/operator/requests" search={{ ...REQUESTS_SEARCH, status: '5xx' }} className="text-link">
              <Failures of={of} />
            </Link>
          }
        />
        <Figure name="95% answered within" value={<Within of={of} boundsMs={boundsMs} share={0.95} />} />
      </SimpleGrid>
    </Panel>
  );
}

/** Revenue and customers. Each figure leads to the list that it counts. */
function BusinessPanel({ of }: { readonly of: OperatorHome['business'] }): ReactNode {
  if (of === null) {
    return (
      <Panel title="Business">
        <EmptyState title="Not added up yet">Revenue and customers appear here within a minute.</EmptyState>
      </Panel>
    );
  }
  const { customers } = of;
  const all = customers.active + customers.idle + customers.leaving + customers.suspended;
  return (
    <Panel
      title="Business"
      aside={
        <span className="dimmed">
          added up <Moment at={of.at} />
        </span>
      }
    >
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        <Figure
          name="Monthly run rate"
          value={
            <Link to="/operator/customers" search={{ ...CUSTOMERS_SEARCH, sort: 'rate', direction: 'down' }} className="text-link">
              {of.rates.length === 0 ? 'nothing' : of.rates.map(formatPrice).join(' + ')}
            </Link>
          }
          note="prices of all active subscriptions"
        />
        <Figure
          name="Customers"
          value={
            <Link to="/operator/customers" search={CUSTOMERS_SEARCH} className="text-link">
              {formatCount(all)}
            </Link>
          }
          note={`${formatCount(customers.active)} with a subscription`}
        />
        <Figure
          name="New in 30 days"
          value={
            <Link to="/operator/customers" search={{ ...CUSTOMERS_SEARCH, sort: 'created', direction: 'down' }} className="text-link">
              {formatCount(of.newInPeriod)}
            </Link>
          }
          note={`${formatCount(of.newToday)} today`}
        />
        <Figure
          name="Leaving"
          value={
            <Link to="/operator/customers" search={{ ...CUSTOMERS_SEARCH, state: 'leaving' }} className="text-link">
              {formatCount(customers.leaving)}
            </Link>
          }
          note="cancelled everything within 30 days, or asked to be deleted"
        />
      </SimpleGrid>
    </Panel>
  );
}

type Top = OperatorHome['topByUse'][number];
const TOP: readonly Column<Top>[] = [
  {
    header: 'Customer',
    isTitle: true,
    cell: ({ id, email, name }) => (
      <Link to="/operator/customers/$customerId" params={{ customerId: id }} className="text-link breakable">
        {name ?? email}
      </Link>
    ),
  },
  { header: 'Requests', isNumber: true, cell: ({ used }) => formatCount(used) },
  { header: 'Growth', isNumber: true, cell: ({ growth }) => `${growth > 0 ? '+' : ''}${formatCount(growth)}` },
];

interface TopPanelProps {
  readonly title: string;
  readonly sort: 'used' | 'growth';
  readonly rows: readonly Top[];
}

/** The first ten of a list of customers. */
function TopPanel({ title, sort, rows }: TopPanelProps): ReactNode {
  return (
    <Panel
      title={title}
      aside={
        <Link to="/operator/customers" search={{ ...CUSTOMERS_SEARCH, sort, direction: 'down' }} className="text-link">
          All customers
        </Link>
      }
    >
      <DataTable
        caption={title}
        columns={TOP}
        rows={rows}
        rowKey={({ id }) => id}
        empty={<EmptyState title="No customers yet">Customers appear here some minutes after their requests.</EmptyState>}
      />
    </Panel>
  );
}

type ProductPart = OperatorHome['products'][number];
const failed = ({ answers }: ProductPart['period']): number => answers?.failed ?? 0;

const FAILING: readonly Column<ProductPart>[] = [
  {
    header: 'Product',
    isTitle: true,
    cell: ({ product }) => (
      <Link to="/operator/requests" search={{ ...REQUESTS_SEARCH, product, status: '5xx' }} className="text-link keep">
        <ProductTitle of={product} />
      </Link>
    ),
  },
  { header: 'Failed today', isNumber: true, cell: ({ today }) => <Failures of={today} /> },
  { header: 'Failed in 30 days', isNumber: true, cell: ({ period }) => <Failures of={period} /> },
  { header: 'Requests in 30 days', isNumber: true, cell: ({ period }) => formatCount(period.admitted) },
];

/** Products with failures, the most first; nothing where none is known. */
function FailingPanel({ products }: Pick<OperatorHome, 'products'>): ReactNode {
  const titleOf = useSoldTitles();
  const rows = products.filter(({ period }) => failed(period) > 0).sort((a, b) => failed(b.period) - failed(a.period));
  return (
    <Panel title="Products with failures">
      <DataTable
        caption="Products with failures"
        columns={FAILING}
        rows={rows}
        rowKey={({ product }) => product}
        empty={<EmptyState title="No failures known">No response of the last 30 days had a status of 500 to 599.</EmptyState>}
      />
      {products.some(({ period }) => period.answers === null) && (
        <Text size="sm" c="dimmed" mt="xs">
          Answers of{' '}
          {products
            .filter(({ period }) => period.answers === null)
            .map(({ product }) => titleOf(product))
            .join(', ')}{' '}
          are not known: neither the gateway nor the product reports them.
        </Text>
      )}
    </Panel>
  );
}
