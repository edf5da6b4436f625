import { SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type OperatorHome } from '../../contract/operator-home';
import { homeQuery } from '../parts/api/operator-queries';
import { formatCount } from '../parts/format/numbers';
import { Loaded } from '../parts/components/loaded';
import { Moment } from '../parts/components/moment';
import { PageTitle } from '../parts/components/page-title';
import { Panel } from '../parts/components/panel';
import { sumAnswers } from '../customer/usage/answers';
import { CUSTOMERS_SEARCH } from './customers-search';
import { BusinessPanel } from './business-panel';
import { Figure } from './figure';
import { FailingPanel, TopPanel } from './home-tables';
import { Failures, Within } from './product-answers';
import { REQUESTS_SEARCH } from '../parts/format/requests-search';

type Part = OperatorHome['products'][number]['period'];

/** Of all products together. */
function sumOf(parts: readonly Part[]): Part {
  const answers = sumAnswers(parts.map((part) => part.answers));
  return {
    admitted: parts.reduce((sum, { admitted }) => sum + admitted, 0),
    answers: answers && { ...answers, took: [...answers.took] },
  };
}

/** How a business does, and what waits for its seller: each figure leads to what it counts. */
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

/** What asks for the seller's attention now. */
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
