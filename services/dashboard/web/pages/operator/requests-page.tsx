import { Button, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
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
import { RequestTable } from './request-table';

const FROM = '/console/operator/requests';

/** What is refused now, whosever it is, and why. */
export function RequestsPage(): ReactNode {
  const { request, product, code, customer } = useSearch({ from: FROM });
  const filter = { product, code, customer };
  return (
    <>
      <PageTitle title="Requests">Requests that were refused or failed before they reached a product, as they come.</PageTitle>
      <Stack gap="md">
        <Filters />
        <div aria-live="polite">{request !== undefined && <Explained requestId={request} />}</div>
        <Panel title="Refused requests">
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
      <TextInput
        label="Code"
        placeholder="key_unknown"
        defaultValue={filter.code ?? ''}
        onChange={(event) => changeText({ code: event.currentTarget.value.trim() || undefined })}
        maxLength={100}
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
      {filter.customer !== undefined && (
        <Button variant="default" onClick={() => change({ customer: undefined })}>
          All customers
        </Button>
      )}
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
    <Link to="/operator/customers" search={{ search: maskedKey.slice(-4) }} className="text-link mono">
      {maskedKey}
    </Link>
  );
}
