import { queryOptions } from '@tanstack/react-query';
import { type Query } from '../../../contract/endpoints';
import { type Explanation } from '../../../contract/explain';
import { type Terms } from '../../../contract/plans';
import { type KeyFilter } from './key-filter';
import { call } from './request';

/** Usage by day, unless stated otherwise. */
export type UsagePeriod = Query<'GET /usage'>;

/** Where a page of a list begins; undefined for the first. */
type After = string | undefined;

export const outboxQuery = queryOptions({ queryKey: ['outbox'], queryFn: () => call('GET /outbox'), refetchInterval: 3_000 });
export const productsQuery = queryOptions({ queryKey: ['products'], queryFn: () => call('GET /products') });
export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: () => call('GET /webhooks'),
  // Reloaded for the result of the last delivery.
  refetchInterval: 10_000,
});

export const tokensQuery = queryOptions({ queryKey: ['tokens'], queryFn: () => call('GET /tokens') });

export const keysQuery = (filter: KeyFilter, after: After, limit = 25) =>
  queryOptions({
    queryKey: ['keys', 'list', filter, after, limit],
    queryFn: () => call('GET /keys', { query: { ...filter, after, limit } }),
    // Reloaded for the last use of a key, and for changes by others.
    refetchInterval: 10_000,
  });

/** Number of keys on all pages. It loads once and after a change, because counting reads all of them. */
export const keyCountQuery = (filter: KeyFilter) =>
  queryOptions({
    queryKey: ['keys', 'count', filter],
    queryFn: () => call('GET /keys', { query: { ...filter, limit: 1, count: 'true' } }),
    staleTime: 60_000,
  });

export const tagsQuery = queryOptions({ queryKey: ['keys', 'tags'], queryFn: () => call('GET /key-tags') });

export const keyQuery = (id: string) =>
  queryOptions({ queryKey: ['keys', 'one', id], queryFn: () => call('GET /keys/:id', { params: { id } }) });

/** Reloaded often while a node has yet to confirm, and rarely afterwards. */
export const propagationQuery = (id: string) =>
  queryOptions({
    queryKey: ['keys', 'propagation', id],
    queryFn: () => call('GET /keys/:id/propagation', { params: { id } }),
    refetchInterval: (query) => (query.state.data?.nodes.some((node) => node.state === 'pending') ? 1_000 : 15_000),
    staleTime: 0,
  });

export const usageQuery = (period: UsagePeriod) =>
  queryOptions({
    queryKey: ['usage', period],
    queryFn: () => call('GET /usage', { query: period }),
    // Figures by day are written every second, so that a call appears within 5 s. Figures by hour are written every 5 s.
    refetchInterval: period.by === 'hour' ? 5_000 : 2_000,
  });

export const keyUsageQuery = (id: string, period: Omit<UsagePeriod, 'product'>) =>
  queryOptions({
    queryKey: ['keys', 'usage', id, period],
    queryFn: () => call('GET /keys/:id/usage', { params: { id }, query: period }),
    refetchInterval: 10_000,
  });

/** Requests appear half a second after their decision, and their responses are reported within some seconds. */
const REPORT_MS = 2_000;
const MAX_NOT_FOUND = 5;

interface Explained {
  readonly state: { readonly data?: Pick<Explanation, 'isRunning'> | undefined; readonly errorUpdateCount: number };
}

/** Milliseconds until an explanation that may still change is read again. */
export function refetchUntilReported({ state: { data, errorUpdateCount } }: Explained): number | false {
  return (data ? data.isRunning : errorUpdateCount < MAX_NOT_FOUND) && REPORT_MS;
}

export const explanationQuery = (requestId: string) =>
  queryOptions({
    queryKey: ['explain', requestId],
    queryFn: () => call('GET /explain/:requestId', { params: { requestId } }),
    staleTime: Infinity,
    refetchInterval: refetchUntilReported,
  });

export const refusalsQuery = (after: After, limit = 25) =>
  queryOptions({
    queryKey: ['refusals', after, limit],
    queryFn: () => call('GET /refusals', { query: { after, limit } }),
    refetchInterval: 10_000,
  });

export const alertsQuery = (after: After, limit = 25) =>
  queryOptions({
    queryKey: ['alerts', after, limit],
    queryFn: () => call('GET /alerts', { query: { after, limit } }),
    refetchInterval: 30_000,
  });

export const alertSettingsQuery = queryOptions({
  queryKey: ['alerts', 'settings'],
  queryFn: () => call('GET /alerts/settings'),
});

export const deliveriesQuery = (webhookId: string, after: After) =>
  queryOptions({
    queryKey: ['webhooks', webhookId, 'deliveries', after],
    queryFn: () => call('GET /webhooks/:id/deliveries', { params: { id: webhookId }, query: { after } }),
    refetchInterval: 5_000,
  });

export const auditQuery = (kind: string | undefined, after: After) =>
  queryOptions({
    queryKey: ['audit', kind, after],
    queryFn: () => call('GET /audit', { query: { kind, after } }),
    refetchInterval: 15_000,
  });
export const statementsQuery = queryOptions({ queryKey: ['statements'], queryFn: () => call('GET /statements') });
export const statementQuery = (month: string) =>
  queryOptions({ queryKey: ['statements', month], queryFn: () => call('GET /statement', { query: { month } }) });

/** Reloaded while a charge is owed, because it is paid on the payment provider's pages. */
export const billingQuery = queryOptions({
  queryKey: ['billing'],
  queryFn: () => call('GET /billing'),
  refetchInterval: ({ state }) => (state.data?.paid.some(({ status }) => status === 'failing') ? 3_000 : false),
});
/** Reloaded until it has ended. */
export const checkoutQuery = (id: string) =>
  queryOptions({
    queryKey: ['billing', 'checkout', id],
    queryFn: () => call('GET /checkouts/:id', { params: { id } }),
    refetchInterval: ({ state }) => (state.data?.state === 'open' ? 1_500 : false),
  });
/** What another plan does in place of a paid one, and what it costs. */
export const switchCostQuery = (id: string, plan: string, terms: Terms) =>
  queryOptions({
    queryKey: ['billing', 'switch', id, plan, terms],
    queryFn: () => call('POST /paid-plans/:id/preview', { params: { id }, body: { plan, terms } }),
    staleTime: 0,
    // What is shown can be accepted; looking again would take that away while it is read.
    refetchOnWindowFocus: false,
  });
export const ownPaymentsQuery = (after: After) =>
  queryOptions({ queryKey: ['billing', 'payments', after], queryFn: () => call('GET /payments', { query: { after } }) });
export const invoicesQuery = (after: After) =>
  queryOptions({ queryKey: ['billing', 'invoices', after], queryFn: () => call('GET /invoices', { query: { after } }) });
export const invoiceQuery = (id: string) =>
  queryOptions({ queryKey: ['billing', 'invoice', id], queryFn: () => call('GET /invoices/:id', { params: { id } }) });

/** What narrows the request log down. */
export type RequestLogFilter = Query<'GET /requests.csv'>;

export const requestLogQuery = (filter: RequestLogFilter, after: After, limit: number) =>
  queryOptions({
    queryKey: ['requests', filter, after, limit],
    queryFn: () => call('GET /requests', { query: { ...filter, after, limit } }),
    refetchInterval: 10_000,
  });

export const teamQuery = queryOptions({ queryKey: ['team'], queryFn: () => call('GET /team'), refetchInterval: 15_000 });

export const outagesQuery = queryOptions({ queryKey: ['outages'], queryFn: () => call('GET /outages'), refetchInterval: 15_000 });
