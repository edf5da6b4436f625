import { queryOptions } from '@tanstack/react-query';
import { type Query } from '../../../contract/endpoints';
import { refetchUntilReported } from './queries';
import { call } from './request';

/** Where a page of a list begins; undefined for the first. */
type After = string | undefined;

type AuditFilter = Query<'GET /operator/audit.csv'>;

export type RequestFilter = Omit<Query<'GET /operator/requests'>, 'after' | 'limit'>;

export const operatorSessionQuery = queryOptions({
  queryKey: ['operator', 'session'],
  queryFn: () => call('GET /operator/session'),
  staleTime: 60_000,
});

export const homeQuery = queryOptions({
  queryKey: ['operator', 'home'],
  queryFn: () => call('GET /operator/home'),
  refetchInterval: 10_000,
});

export type CustomersFilter = Query<'GET /operator/customers.csv'>;

export const customersQuery = (filter: CustomersFilter, after: After) =>
  queryOptions({
    queryKey: ['operator', 'customers', filter, after],
    queryFn: () => call('GET /operator/customers', { query: { ...filter, after } }),
  });

export const customerQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'customer', id],
    queryFn: () => call('GET /operator/customers/:id', { params: { id } }),
    refetchInterval: 10_000,
  });

export const customerKeysQuery = (id: string, after: After) =>
  queryOptions({
    queryKey: ['operator', 'customer', id, 'keys', after],
    queryFn: () => call('GET /operator/customers/:id/keys', { params: { id }, query: { after, limit: 10 } }),
  });

/** Plans that wait for the seller, of one customer or of all. */
export const planRequestsQuery = (customer: string | undefined, after: After) =>
  queryOptions({
    queryKey: ['operator', 'plan-requests', customer, after],
    queryFn: () => call('GET /operator/plan-requests', { query: { customer, after } }),
    refetchInterval: 10_000,
  });

/** Reloaded: requests appear within seconds. */
export const requestsQuery = (filter: RequestFilter, after: After, limit = 25) =>
  queryOptions({
    queryKey: ['operator', 'requests', filter, after, limit],
    queryFn: () => call('GET /operator/requests', { query: { ...filter, after, limit } }),
    refetchInterval: after === undefined ? 3_000 : false,
  });

export const anyExplanationQuery = (requestId: string) =>
  queryOptions({
    queryKey: ['operator', 'explain', requestId],
    queryFn: () => call('GET /operator/requests/:requestId', { params: { requestId } }),
    staleTime: Infinity,
    refetchInterval: refetchUntilReported,
  });

export const auditOfAllQuery = (filter: AuditFilter, after: After) =>
  queryOptions({
    queryKey: ['operator', 'audit', filter, after],
    queryFn: () => call('GET /operator/audit', { query: { ...filter, after } }),
  });

export const figuresQuery = queryOptions({
  queryKey: ['operator', 'products'],
  queryFn: () => call('GET /operator/products'),
  refetchInterval: 60_000,
});

/** Several pages use the catalogue. A page that shows it also shows later changes. */
export const catalogueQuery = queryOptions({
  queryKey: ['operator', 'catalogue'],
  queryFn: () => call('GET /operator/catalogue'),
  staleTime: 0,
});

/** Read from the file each time. */
export const catalogueFileQuery = queryOptions({
  queryKey: ['operator', 'catalogue', 'file'],
  queryFn: () => call('GET /operator/catalogue/file'),
  staleTime: 0,
});

export type InvoiceFilter = Query<'GET /operator/invoices.csv'>;

export const billingSumsQuery = queryOptions({ queryKey: ['operator', 'billing'], queryFn: () => call('GET /operator/billing') });

export const allInvoicesQuery = (filter: InvoiceFilter, after: After) =>
  queryOptions({
    queryKey: ['operator', 'invoices', filter, after],
    queryFn: () => call('GET /operator/invoices', { query: { ...filter, after } }),
  });

export type PaymentFilter = Query<'GET /operator/payments.csv'>;

export const paymentsQuery = (filter: PaymentFilter, after: After, limit = 25) =>
  queryOptions({
    queryKey: ['operator', 'payments', filter, after, limit],
    queryFn: () => call('GET /operator/payments', { query: { ...filter, after, limit } }),
  });

export const customersPaidPlansQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'paid-plans', id],
    queryFn: () => call('GET /operator/customers/:id/paid-plans', { params: { id } }),
  });

export const anyInvoiceQuery = (id: string) =>
  queryOptions({ queryKey: ['operator', 'invoice', id], queryFn: () => call('GET /operator/invoices/:id', { params: { id } }) });

export const sellerTokensQuery = queryOptions({ queryKey: ['operator', 'tokens'], queryFn: () => call('GET /operator/tokens') });

export const nodesQuery = queryOptions({
  queryKey: ['operator', 'nodes'],
  queryFn: () => call('GET /operator/nodes'),
  refetchInterval: 3_000,
});

export const outagesOfAllQuery = queryOptions({
  queryKey: ['operator', 'outages'],
  queryFn: () => call('GET /operator/outages'),
  refetchInterval: 10_000,
});
