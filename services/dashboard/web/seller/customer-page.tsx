import { Button, SimpleGrid, Stack, Group, Text, Textarea, NativeSelect } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useForm } from '@mantine/form';
import { planName } from '../../reference/plan-name';
import type { CustomerDetails } from '../../contract/operator-customers';
import { customerQuery, auditOfAllQuery, catalogueQuery } from '../parts/api/operator-queries';
import { EmptyState } from '../parts/components/empty-state';
import { Loaded } from '../parts/components/loaded';
import { Moment } from '../parts/components/moment';
import { PageTitle } from '../parts/components/page-title';
import { Panel } from '../parts/components/panel';
import { SuspensionNotice } from '../parts/components/suspension-notice';
import { CustomerKeys } from './customer-keys';
import { CustomerPayments } from './payment-list';
import { CustomerSubscriptions } from './customer-subscriptions';
import { CustomersPaidPlans } from './paid-plan-list';
import { type PaymentChoice, PaymentChoiceField } from './payment-choice';
import { PlanRequests } from './plan-requests';
import { RequestTable } from './request-table';
import { SuspendDialog, type SuspensionTarget } from './suspend-dialog';
import { call } from '../parts/api/request';
import { useSubmit } from '../parts/hooks/use-submit';
import { ProblemAlert } from '../parts/components/problem-alert';
import { actionName } from '../customer/audit/action-names';
import { Details } from '../customer/audit/audit-cells';
import { toast } from '../parts/browser/toast';
import { Dialog } from '../parts/components/dialog';
import { FormButtons } from '../parts/components/form-buttons';
import { formatCount, formatPrice } from '../parts/format/numbers';
import { thenText } from '../customer/plans/offers';

/** Everything about one customer, and what an operator can do. */
export function CustomerPage(): ReactNode {
  const { customerId } = useParams({ from: '/console/operator/customers/$customerId' });
  const query = useQuery(customerQuery(customerId));
  return (
    <>
      {/* Shown after the first response: a second heading would take the focus from a reader who has just arrived. */}
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
        <CustomersPaidPlans customerId={id} />
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
      {target && <SuspendDialog customerId={id} target={target} onClose={() => setTarget(undefined)} />}
    </>
  );
}

function Alerts({ alerts }: Pick<CustomerDetails, 'alerts'>): ReactNode {
  if (alerts.length === 0) return <EmptyState title="No alerts">The customer has had no alert about a limit or an expiry yet.</EmptyState>;
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

/** Notes of operators, newest first. The customer does not see them. */
function CustomerNotes({ customer: { id, notes } }: { readonly customer: CustomerDetails }): ReactNode {
  const client = useQueryClient();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { text: '' },
    validate: { text: (value) => (value.trim() === '' ? 'Enter a note first.' : null) },
  });
  const { submit, pending, problem } = useSubmit(async ({ text }: typeof form.values) => {
    await call('POST /operator/customers/:id/notes', { params: { id }, body: { text: text.trim() } });
    form.reset();
    await client.invalidateQueries({ queryKey: ['operator', 'customer', id] });
  });
  return (
    <Stack gap="sm">
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="xs">
          <Textarea
            label="New note"
            description="For operators only; it cannot be changed later."
            maxLength={2_000}
            autosize
            minRows={2}
            key={form.key('text')}
            {...form.getInputProps('text')}
          />
          <ProblemAlert problem={problem} />
          <Group justify="flex-end">
            <Button type="submit" variant="default" loading={pending}>
              Add note
            </Button>
          </Group>
        </Stack>
      </form>
      {notes.map((note) => (
        <div key={note.id} className="subsection">
          <Text size="sm" className="breakable">
            {note.text}
          </Text>
          <Text size="xs" c="dimmed">
            {note.author} · <Moment at={note.at} />
          </Text>
        </div>
      ))}
    </Stack>
  );
}

/** The events of a customer by any actor, newest first: the first page of its audit log in words. */
function CustomerTimeline({ customerId }: { readonly customerId: string }): ReactNode {
  const query = useQuery(auditOfAllQuery({ customer: customerId }, undefined));
  const all = (
    <Link to="/operator/audit" search={{ customer: customerId, actor: undefined, action: undefined }} className="text-link">
      Audit log
    </Link>
  );
  return (
    <Panel title="Timeline" aside={all}>
      <Loaded query={query} height={200}>
        {({ entries }) =>
          entries.length === 0 ? (
            <EmptyState title="Nothing happened yet">Actions of the customer, operators and programs appear here.</EmptyState>
          ) : (
            <Stack gap={8} component="ol" m={0} pl={0} fz="sm" style={{ listStyle: 'none' }}>
              {entries.map(({ at, actor, action, subject, details }, index) => (
                // Lines of the log have no id here, and are only added at the beginning.
                <li key={`${at} ${action} ${entries.length - index}`}>
                  <span className="dimmed">
                    <Moment at={at} /> ·{' '}
                  </span>
                  <strong>{actionName(action)}</strong>
                  {subject.label !== null && <span className="mono"> {subject.label}</span>}
                  <span className="dimmed breakable"> by {actor}</span>
                  {Object.keys(details).length > 0 && (
                    <div>
                      <Details details={details} />
                    </div>
                  )}
                </li>
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Panel>
  );
}

interface GivePlanDialogProps {
  readonly customer: Pick<CustomerDetails, 'id' | 'email' | 'subscriptions'>;
  readonly onClose: () => void;
}

/** Puts the customer on a plan, even on one that is given on request. Rendered only while it is open. */
function GivePlanDialog({ customer: { id, email, subscriptions }, onClose }: GivePlanDialogProps): ReactNode {
  const client = useQueryClient();
  const { data } = useQuery(catalogueQuery);
  const products = (data?.products ?? []).filter(({ subscribable }) => subscribable);
  const [chosen, setChosen] = useState<string>();
  const product = products.find((each) => each.id === chosen) ?? products[0];
  const present = subscriptions.find((each) => each.product === product?.id && each.state !== 'cancelled');
  const [plan, setPlan] = useState('');
  const [payment, setPayment] = useState<PaymentChoice>('');
  const { submit, pending, problem } = useSubmit(async () => {
    if (!product) return;
    const body = { product: product.id, plan: plan === '' ? null : plan, ...(payment !== '' && { payment }) };
    await call('PUT /operator/customers/:id/plan', { params: { id }, body });
    toast(`${email} has ${planName(plan || null)} of ${product.title} now.`);
    await client.invalidateQueries({ queryKey: ['operator'] });
    onClose();
  });
  return (
    <Dialog title="Give a plan" onClose={onClose} mayCloseLightly={!pending}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Stack gap="sm">
          <NativeSelect
            label="Product"
            data={products.map((each) => ({ value: each.id, label: each.title }))}
            value={product?.id ?? ''}
            onChange={({ currentTarget: { value } }) => {
              setChosen(value);
              setPlan('');
            }}
            data-autofocus
          />
          <NativeSelect
            label="Plan"
            data={[
              ...(product?.base ? [{ value: '', label: `Base: ${formatCount(product.base.daily)} a day, free` }] : []),
              ...(product?.plans ?? []).map((each) => ({
                value: each.name,
                label: `${each.name}: ${formatCount(each.daily)} a day, ${formatPrice(each)} a month${thenText(each)}`,
              })),
            ]}
            value={plan}
            onChange={({ currentTarget: { value } }) => setPlan(value)}
          />
          <Text size="sm">
            {present ? `It replaces ${planName(present.plan)}` : 'It subscribes the customer to the product'} from the next request on, and
            counts on the monthly statement.
          </Text>
          <PaymentChoiceField isAsked={problem?.code === 'plan_paid'} value={payment} onChange={setPayment} />
          <ProblemAlert problem={problem} />
          <FormButtons action="Give plan" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
