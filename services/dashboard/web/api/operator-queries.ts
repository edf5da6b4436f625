import { queryOptions } from '@tanstack/react-query';
import { type Explanation } from '../../contract/explain';
import {
  type AuditOfAll,
  type NodeList,
  type OperatorCatalogue,
  type OperatorSession,
  type ProductFigures,
  type RefusalsOfAll,
} from '../../contract/operator';
import { type CustomerDetails, type CustomerPage, type PlanRequestPage } from '../../contract/operator-customers';
import { type KeyPage } from '../../contract/keys';
import { get } from './request';

/** Where a page of a list begins; undefined for the first. */
type After = string | undefined;

export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly customer?: string | undefined;
}

export interface RequestFilter {
  readonly product?: string | undefined;
  readonly code?: string | undefined;
  readonly customer?: string | undefined;
}

export const operatorSessionQuery = queryOptions({
  queryKey: ['operator', 'session'],
  queryFn: () => get<OperatorSession>('/operator/session'),
  staleTime: 60_000,
});

export const customersQuery = (search: string | undefined, after: After) =>
  queryOptions({
    queryKey: ['operator', 'customers', search, after],
    queryFn: () => get<CustomerPage>('/operator/customers', { search, after }),
  });

export const customerQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'customer', id],
    queryFn: () => get<CustomerDetails>(`/operator/customers/${id}`),
    refetchInterval: 10_000,
  });

export const customerKeysQuery = (id: string, after: After) =>
  queryOptions({
    queryKey: ['operator', 'customer', id, 'keys', after],
    queryFn: () => get<KeyPage>(`/operator/customers/${id}/keys`, { after, limit: 10 }),
  });

/** Plans that wait for an answer; of one customer, or of all. */
export const planRequestsQuery = (customer: string | undefined, after: After) =>
  queryOptions({
    queryKey: ['operator', 'plan-requests', customer, after],
    queryFn: () => get<PlanRequestPage>('/operator/plan-requests', { customer, after }),
    refetchInterval: 10_000,
  });

/** Live: what is refused shows within seconds. */
export const requestsQuery = (filter: RequestFilter, after: After, limit = 25) =>
  queryOptions({
    queryKey: ['operator', 'requests', filter, after, limit],
    queryFn: () => get<RefusalsOfAll>('/operator/requests', { ...filter, after, limit }),
    refetchInterval: after === undefined ? 3_000 : false,
  });

export const anyExplanationQuery = (requestId: string) =>
  queryOptions({
    queryKey: ['operator', 'explain', requestId],
    queryFn: () => get<Explanation>(`/operator/requests/${encodeURIComponent(requestId)}`),
    staleTime: Infinity,
  });

export const auditOfAllQuery = (filter: AuditFilter, after: After) =>
  queryOptions({
    queryKey: ['operator', 'audit', filter, after],
    queryFn: () => get<AuditOfAll>('/operator/audit', { ...filter, after }),
  });

export const figuresQuery = queryOptions({
  queryKey: ['operator', 'products'],
  queryFn: () => get<ProductFigures>('/operator/products'),
  refetchInterval: 60_000,
});

export const catalogueQuery = queryOptions({
  queryKey: ['operator', 'catalogue'],
  queryFn: () => get<OperatorCatalogue>('/operator/catalogue'),
});

export const nodesQuery = queryOptions({
  queryKey: ['operator', 'nodes'],
  queryFn: () => get<NodeList>('/operator/nodes'),
  refetchInterval: 3_000,
});
