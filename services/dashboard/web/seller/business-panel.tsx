import { SimpleGrid } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type OperatorHome } from '../../contract/operator-home';
import { EmptyState } from '../parts/components/empty-state';
import { Moment } from '../parts/components/moment';
import { Panel } from '../parts/components/panel';
import { formatCount, formatPrice } from '../parts/format/numbers';
import { CUSTOMERS_SEARCH } from './customers-search';
import { Figure } from './figure';

/** Revenue and customers; each figure leads to the list of those it counts. */
export function BusinessPanel({ of }: { readonly of: OperatorHome['business'] }): ReactNode {
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
