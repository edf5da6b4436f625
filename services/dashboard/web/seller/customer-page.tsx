import { Button, SimpleGrid, Stack } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { type CustomerDetails } from '../../contract/operator-customers';
import { customerQuery } from '../parts/api/operator-queries';
import { EmptyState } from '../parts/components/empty-state';
import { Loaded } from '../parts/components/loaded';
import { Moment } from '../parts/components/moment';
import { PageTitle } from '../parts/components/page-title';
import { Panel } from '../parts/components/panel';
import { SuspensionNotice } from '../parts/components/suspension-notice';
import { CustomerKeys } from './customer-keys';
import { CustomerNotes } from './customer-notes';
import { CustomerPayments } from './payment-list';
import { CustomerSubscriptions } from './customer-subscriptions';
import { CustomerTimeline } from './customer-timeline';
import { GivePlanDialog } from './give-plan-dialog';
import { PlanRequests } from './plan-requests';
import { RequestTable } from './request-table';
import { SuspendDialog, type SuspensionTarget } from './suspend-dialog';

/** Everything about one customer, and what an operator can do. */
export function CustomerPage(): ReactNode {
  const { customerId } = useParams({ from: '/console/operator/customers/$customerId' });
  const query = useQuery(customerQuery(customerId));
  return (
    <>
      {/* Not before an answer: a second heading would take the focus from somebody who has just arrived. */}
      {query.isError && !query.data && <PageTitle title="Customer" />}
      <Loaded query={query} height={600}>
        {(customer) => <Customer customer={customer} />}
      </Loaded>
    </>
  );
}

function Customer({ customer }: { readonly customer: CustomerDetails }): ReactNode {
  const { id, email, name, createdAt, suspended } = customer;
  const [target, setTarget] = useState<SuspensionTarget>();
  const [isGiving, setGiving] = useState(false);
  const isSuspended = suspended !== undefined;
  const actions = (
    <>
      <Button component="a" variant="default" href={`/operator/billing?list=invoices&customer=${id}`}>
        Invoices
      </Button>
      <Button
        component="a"
        variant="default"
        href={`/?view=${id}`}
        target="_blank"
        rel="noopener"
        leftSection={<IconEye size={16} aria-hidden />}
      >
        See what they see
      </Button>
      <Button
        color={isSuspended ? 'indigo' : 'red'}
        variant={isSuspended ? 'filled' : 'light'}
        onClick={() => setTarget({ kind: 'customer', id, name: email, isSuspended })}
      >
        {isSuspended ? 'Restore' : 'Suspend'}
      </Button>
    </>
  );
  return (
    <>
      <PageTitle title={email} actions={actions}>
        {name !== null && (
          <>
            <bdi className="breakable">{name}</bdi> ·{' '}
          </>
        )}
        Customer since <Moment at={createdAt} /> · <span className="mono breakable">{id}</span>
      </PageTitle>
      <Stack gap="md">
        <SuspensionNotice suspended={suspended} effect="Requests with all keys are refused." />
        <PlanRequests customerId={id} />
        <Panel
          title="Subscriptions"
          aside={
            <Button size="xs" variant="default" onClick={() => setGiving(true)}>
              Give a plan
            </Button>
          }
        >
          <CustomerSubscriptions customer={customer} onSuspend={setTarget} />
        </Panel>
        <CustomerPayments customerId={id} />
        <CustomerKeys customerId={id} onSuspend={setTarget} />
        <Panel title="Refused requests">
          <RequestTable filter={{ customer: id, outcome: 'refused' }} limit={5} isPaged={false} />
        </Panel>
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <Panel title="Notes">
            <CustomerNotes customer={customer} />
          </Panel>
          <Panel title="Alerts">
            <Alerts alerts={customer.alerts} />
          </Panel>
        </SimpleGrid>
        <CustomerTimeline customerId={id} />
      </Stack>
      {isGiving && <GivePlanDialog customer={customer} onClose={() => setGiving(false)} />}
      {target && <SuspendDialog target={target} onClose={() => setTarget(undefined)} />}
    </>
  );
}

function Alerts({ alerts }: Pick<CustomerDetails, 'alerts'>): ReactNode {
  if (alerts.length === 0) return <EmptyState title="No alerts">The customer was told of no limit or expiry yet.</EmptyState>;
  return (
    <Stack gap={6} component="ul" m={0} pl="md">
      {alerts.map((alert) => (
        <li key={alert.id}>
          {alert.text}{' '}
          <span className="dimmed">
            <Moment at={alert.at} />
          </span>
        </li>
      ))}
    </Stack>
  );
}
