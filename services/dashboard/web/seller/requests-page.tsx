import { NativeSelect, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { ApiProblem } from '../parts/api/api-problem';
import { anyExplanationQuery, catalogueQuery } from '../parts/api/operator-queries';
import { EmptyState } from '../parts/components/empty-state';
import { Loaded } from '../parts/components/loaded';
import { PageTitle } from '../parts/components/page-title';
import { Panel } from '../parts/components/panel';
import { useTypingPause } from '../parts/hooks/use-typing-pause';
import { ExplanationView } from '../customer/explain/explanation-view';
import { DURATIONS, METHODS, outcomeChoices, STATUSES, withChosen } from '../customer/requests/request-choices';
import { CUSTOMERS_SEARCH } from './customers-search';
import { RequestTable } from './request-table';

const FROM = '/console/operator/requests';

/** Requests with unknown keys come first, because operators look for them. */
const OUTCOMES = outcomeChoices([
  ...(['key_unknown', 'key_missing', 'ambiguous_key', 'key_inactive', 'key_expired', 'product_not_authorised'] as const),
  ...(['subscription_missing', 'subscription_inactive', 'caller_not_whitelisted', 'sandbox_missing'] as const),
  ...(['quota_daily_exceeded', 'quota_monthly_exceeded', 'rate_exceeded', 'quota_unavailable', 'access_layer_unavailable'] as const),
]);

/** Present requests of all customers, with their outcomes. */
export function RequestsPage(): ReactNode {
  const { request, slower, after: _after, page: _page, ...columns } = useSearch({ from: FROM });
  const filter = { ...columns, ...(slower !== undefined && { slowerThanMs: slower }) };
  return (
    <>
      <PageTitle title="Requests">
        Requests of the last 7 days, admitted and refused, as they come. Every refusal is listed, and a sample of a busy key’s admitted
        requests.
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

const TEXTS = [
  { name: 'path', label: 'Path', placeholder: 'begins with /', longest: 200 },
  { name: 'customer', label: 'Customer', placeholder: 'Email or ID', longest: 254 },
  { name: 'key', label: 'Key', placeholder: 'Last four characters', longest: 512 },
  { name: 'caller', label: 'Caller', placeholder: 'Address', longest: 45 },
  { name: 'origin', label: 'Web page', placeholder: 'Host', longest: 255 },
  { name: 'request', label: 'Explain request', placeholder: 'Request ID', longest: 100 },
] as const;

/** Only the end of a whole key is searched for: a secret has no business in an address. */
function textOf(name: string, value: string): string | undefined {
  const text = value.trim();
  if (name === 'path' && text !== '') return text.startsWith('/') ? text : `/${text}`;
  if (name !== 'key') return text || undefined;
  return text.length < 4 ? undefined : text.slice(-4);
}

/** Filters for every column of the table, and for the id of a request to explain. */
function Filters(): ReactNode {
  const filter = useSearch({ from: FROM });
  const navigate = useNavigate({ from: '/operator/requests' });
  const { data } = useQuery(catalogueQuery);
  const change = (part: Partial<typeof filter>): void =>
    void navigate({ search: (now) => ({ ...now, ...part, after: undefined, page: undefined }), replace: true });
  const changeText = useTypingPause(change);
  const products = [{ value: '', label: 'All products' }, ...(data?.products ?? []).map(({ id, title }) => ({ value: id, label: title }))];
  const choices = [
    { name: 'product', label: 'Product', data: products },
    { name: 'outcome', label: 'Outcome', data: OUTCOMES },
    { name: 'status', label: 'Status', data: STATUSES },
    { name: 'method', label: 'Method', data: METHODS },
    { name: 'slower', label: 'Duration', data: DURATIONS },
  ] as const;
  return (
    <SimpleGrid cols={{ base: 2, sm: 4, lg: 6 }} spacing="xs" verticalSpacing="xs">
      {choices.map(({ name, label, data: offered }) => (
        <NativeSelect
          key={name}
          label={label}
          data={withChosen(offered, filter[name])}
          value={filter[name] ?? ''}
          onChange={(event) => change({ [name]: event.currentTarget.value || undefined })}
        />
      ))}
      {TEXTS.map(({ name, label, placeholder, longest }) => (
        <TextInput
          // Links of the table set the last filter.
          key={name === 'request' ? `${name} ${filter[name] ?? ''}` : name}
          label={label}
          placeholder={placeholder}
          defaultValue={filter[name] ?? ''}
          onChange={(event) => changeText({ [name]: textOf(name, event.currentTarget.value) })}
          maxLength={longest}
          spellCheck={false}
        />
      ))}
    </SimpleGrid>
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

/** A link to the customer who has the key. */
function KeyLink({ maskedKey }: { readonly maskedKey: string }): ReactNode {
  return (
    <Link to="/operator/customers" search={{ ...CUSTOMERS_SEARCH, search: maskedKey.slice(-4) }} className="text-link mono">
      {maskedKey}
    </Link>
  );
}
