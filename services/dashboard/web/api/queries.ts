import { queryOptions } from '@tanstack/react-query';
import { type Outbox } from '../../contract/account';
import { type AlertPage, type AlertSettings, type DeliveryPage, type WebhookList } from '../../contract/alerts';
import { type AuditLog } from '../../contract/audit';
import { type Explanation, type RefusalPage } from '../../contract/explain';
import { type Key, type KeyPage, type Propagation, type TagList } from '../../contract/keys';
import { type ProductList } from '../../contract/plans';
import { type StatementAnswer, type StatementMonths } from '../../contract/statements';
import { type TokenList } from '../../contract/tokens';
import { type KeyUsage, type Usage } from '../../contract/usage';
import { type KeyFilter } from './key-filter';
import { get } from './request';

export interface UsagePeriod {
  readonly from: string;
  readonly to: string;
  readonly product?: string | undefined;
  /** By the day unless given. */
  readonly by?: 'day' | 'hour';
}

/** Where a page of a list begins; undefined for the first. */
type After = string | undefined;

export const outboxQuery = queryOptions({ queryKey: ['outbox'], queryFn: () => get<Outbox>('/outbox'), refetchInterval: 3_000 });
export const productsQuery = queryOptions({ queryKey: ['products'], queryFn: () => get<ProductList>('/products') });
export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: () => get<WebhookList>('/webhooks'),
  // What came of the last delivery.
  refetchInterval: 10_000,
});

export const tokensQuery = queryOptions({ queryKey: ['tokens'], queryFn: () => get<TokenList>('/tokens') });

export const keysQuery = (filter: KeyFilter, after: After, limit = 25) =>
  queryOptions({
    queryKey: ['keys', 'list', filter, after, limit],
    queryFn: () => get<KeyPage>('/keys', { ...filter, after, limit }),
    // When a key was last used, and what others change.
    refetchInterval: 10_000,
  });

/** How many there are on all pages. Asked once and after a change, as counting reads all of them. */
export const keyCountQuery = (filter: KeyFilter) =>
  queryOptions({
    queryKey: ['keys', 'count', filter],
    queryFn: () => get<KeyPage>('/keys', { ...filter, limit: 1, count: 'true' }),
    staleTime: 60_000,
  });

export const tagsQuery = queryOptions({ queryKey: ['keys', 'tags'], queryFn: () => get<TagList>('/key-tags') });

export const keyQuery = (id: string) => queryOptions({ queryKey: ['keys', 'one', id], queryFn: () => get<Key>(`/keys/${id}`) });

/** Asked again and again while a node has yet to confirm, and seldom afterwards. */
export const propagationQuery = (id: string) =>
  queryOptions({
    queryKey: ['keys', 'propagation', id],
    queryFn: () => get<Propagation>(`/keys/${id}/propagation`),
    refetchInterval: (query) => (query.state.data?.nodes.some((node) => node.state === 'pending') ? 1_000 : 15_000),
    staleTime: 0,
  });

export const usageQuery = (period: UsagePeriod) =>
  queryOptions({
    queryKey: ['usage', period],
    queryFn: () => get<Usage>('/usage', { ...period }),
    // Figures by day are written every second, so that a call shows within 5 s; those by hour are written every 5 s.
    refetchInterval: period.by === 'hour' ? 5_000 : 2_000,
  });

export const keyUsageQuery = (id: string, period: Omit<UsagePeriod, 'product'>) =>
  queryOptions({
    queryKey: ['keys', 'usage', id, period],
    queryFn: () => get<KeyUsage>(`/keys/${id}/usage`, { ...period }),
    refetchInterval: 10_000,
  });

export const explanationQuery = (requestId: string) =>
  queryOptions({
    queryKey: ['explain', requestId],
    queryFn: () => get<Explanation>(`/explain/${encodeURIComponent(requestId)}`),
    staleTime: Infinity,
  });

export const refusalsQuery = (after: After, limit = 25) =>
  queryOptions({
    queryKey: ['refusals', after, limit],
    queryFn: () => get<RefusalPage>('/refusals', { after, limit }),
    refetchInterval: 10_000,
  });

export const alertsQuery = (after: After, limit = 25) =>
  queryOptions({
    queryKey: ['alerts', after, limit],
    queryFn: () => get<AlertPage>('/alerts', { after, limit }),
    refetchInterval: 30_000,
  });

export const alertSettingsQuery = queryOptions({
  queryKey: ['alerts', 'settings'],
  queryFn: () => get<AlertSettings>('/alerts/settings'),
});

export const deliveriesQuery = (webhookId: string, after: After) =>
  queryOptions({
    queryKey: ['webhooks', webhookId, 'deliveries', after],
    queryFn: () => get<DeliveryPage>(`/webhooks/${webhookId}/deliveries`, { after }),
    refetchInterval: 5_000,
  });

export const auditQuery = (kind: string | undefined, after: After) =>
  queryOptions({ queryKey: ['audit', kind, after], queryFn: () => get<AuditLog>('/audit', { kind, after }), refetchInterval: 15_000 });
export const statementsQuery = queryOptions({ queryKey: ['statements'], queryFn: () => get<StatementMonths>('/statements') });
export const statementQuery = (month: string) =>
  queryOptions({ queryKey: ['statements', month], queryFn: () => get<StatementAnswer>('/statement', { month }) });
