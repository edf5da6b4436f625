import { Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { ApiProblem } from '../../api/api-problem';
import { anyExplanationQuery, catalogueQuery } from '../../api/operator-queries';
import { EmptyState } from '../../components/empty-state';
import { Loaded } from '../../components/loaded';
import { PageTitle } from '../../components/page-title';
import { Panel } from '../../components/panel';
import { ExplanationView } from '../explain/explanation-view';
import { outcomeChoices, STATUSES, withChosen } from '../requests/request-choices';
import { CUSTOMERS_SEARCH } from './customers-search';
import { RequestTable } from './request-table';

const FROM = '/console/operator/requests';

/** Those of unknown keys first, which operators look for. */
const OUTCOMES = outcomeChoices([
  ...(['key_unknown', 'key_missing', 'ambiguous_key', 'key_inactive', 'key_expired', 'product_not_authorised'] as const),
  ...(['subscription_missing', 'subscription_inactive', 'caller_not_whitelisted', 'sandbox_missing'] as const),
  ...(['quota_daily_exceeded', 'quota_monthly_exceeded', 'quota_unavailable', 'access_layer_unavailable'] as const),
]);

/** What is asked now, whosever it is, and what came of it. */
export function RequestsPage(): ReactNode {
  const { request, product, outcome, status, customer } = useSearch({ from: FROM });
  const filter = { product, outcome, status, customer };
  return (
    <>
      <PageTitle title="Requests">
        Requests of the last 7 days, admitted and refused, as they come. Every refusal is listed; of a busy key’s admitted requests a sample
        is.
      </PageTitle>
      <Stack gap="md">
        <Filters />
        <div aria-live="polite">{request !== undefined && <Explained requestId={request} />}</div>
        <Panel title="Requests of all customers">
          <RequestTable filter={filter} />
        </Panel>
      </Stack>
    </>
  );
}

function Filters(): ReactNode {
  const filter = useSearch({ from: FROM });
  const navigate = useNavigate({ from: '/operator/requests' });
  const { data } = useQuery(catalogueQuery);
  const change = (part: Partial<typeof filter>): void =>
    void navigate({ search: (now) => ({ ...now, ...part, after: undefined, page: undefined }), replace: true });
  const changeText = useDebouncedCallback((part: Partial<typeof filter>) => change(part), 300);
  const products = [{ value: '', label: 'All products' }, ...(data?.products ?? []).map(({ id }) => ({ value: id, label: id }))];
  return (
    <Group gap="xs" align="flex-end">
      <NativeSelect
        label="Product"
        data={products}
        value={filter.product ?? ''}
        onChange={(event) => change({ product: event.currentTarget.value || undefined })}
      />
      <NativeSelect
        label="Outcome"
        data={withChosen(OUTCOMES, filter.outcome)}
        value={filter.outcome ?? ''}
        onChange={(event) => change({ outcome: event.currentTarget.value || undefined })}
      />
      <NativeSelect
        label="Status"
        data={withChosen(STATUSES, filter.status)}
        value={filter.status ?? ''}
        onChange={(event) => change({ status: event.currentTarget.value || undefined })}
      />
      <TextInput
        label="Customer"
        placeholder="Email or ID"
        defaultValue={filter.customer ?? ''}
        key={`customer ${filter.customer ?? ''}`}
        onChange={(event) => changeText({ customer: event.currentTarget.value.trim() || undefined })}
        maxLength={254}
        spellCheck={false}
      />
      <TextInput
        label="Request ID"
        defaultValue={filter.request ?? ''}
        key={filter.request}
        onChange={(event) => changeText({ request: event.currentTarget.value.trim() || undefined })}
        maxLength={100}
        spellCheck={false}
        classNames={{ input: 'mono' }}
      />
    </Group>
  );
}

function Explained({ requestId }: { readonly requestId: string }): ReactNode {
  const query = useQuery(anyExplanationQuery(requestId));
  if (query.error instanceof ApiProblem && query.error.status === 404) {
    return (
      <div className="panel">
        <EmptyState title="Request not found">It was made more than 7 days ago, or within the last few seconds.</EmptyState>
      </div>
    );
  }
  return (
    <Loaded query={query} height={420}>
      {(explanation) => <ExplanationView explanation={explanation} renderKey={(maskedKey) => <KeyLink maskedKey={maskedKey} />} />}
    </Loaded>
  );
}

/** Leads to whoever has the key. */
function KeyLink({ maskedKey }: { readonly maskedKey: string }): ReactNode {
  return (
    <Link to="/operator/customers" search={{ ...CUSTOMERS_SEARCH, search: maskedKey.slice(-4) }} className="text-link mono">
      {maskedKey}
    </Link>
  );
}
