import { type Pool } from 'pg';
import { ANSWER_TIME_BOUNDS_MS } from '../../../../plugins/core/catalogue/answer-times';
import { readAppliedCatalogue, readCatalogueSource } from '../../../selling/catalogue/read-catalogue';
import { findCustomer } from '../../../selling/customers/find-customer';
import { explainRequest } from '../../../selling/requests/explain';
import { findRequest } from '../../../selling/requests/find-request';
import { listCatalogueChanges } from '../../../selling/operators/catalogue-changes';
import { MAX_OF_ALL } from '../../../selling/operators/most-of-all';
import { readProductFigures } from '../../../selling/operators/product-figures';
import { readNodes, readStoreHealth } from '../../../selling/operators/read-nodes';
import { type AuditSearch, searchAudit } from '../../../selling/operators/search-audit';
import { searchRequests } from '../../../selling/operators/search-requests';
import { type operatorEndpoints } from '../../contract/operator';
import { type Handlers } from '../../http/bind-endpoint';
import { todayOf } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';
import { describeProduct } from '../../customer/plans/plan-handlers';
import { describeTold, readAnswerFilter } from '../../customer/requests/describe-request';
import { csvRecord, readPages } from '../../http/csv';
import { compareFile } from './compare-file';
import { readAnswered } from './read-answered';

const UNKNOWN = 'No request has this ID in the last 7 days. New requests appear a few seconds after their response.';

const CHANGES_SHOWN = 20;
const BATCH = 500;
/** The most lines that a spreadsheet opens, in no more than a minute's work. */
const MAX_LINES = 100_000;

/** The requested lines, newest first, read a few at a time. */
async function* records(db: Pool, query: Omit<AuditSearch, 'limit' | 'after'>): AsyncGenerator<string> {
  yield csvRecord(['at', 'actor', 'from', 'action', 'subject_kind', 'subject_id', 'subject', 'customer', 'details']);
  for await (const { lines } of readPages((after) => searchAudit(db, { ...query, limit: BATCH, after }), MAX_LINES / BATCH)) {
    for (const { at, actor, from, action, subjectKind, subjectId, label, customer, details } of lines) {
      const about = [subjectKind, subjectId, label ?? '', customer?.email ?? '', JSON.stringify(details)];
      yield csvRecord([at.toISOString(), actor, from ?? '', action, ...about]);
    }
  }
}

/** The audit log, the request log, the catalogue and the state of the installation. */
export const operatorHandlers: Handlers<typeof operatorEndpoints> = {
  'GET /operator/session': ({ caller: { email } }, { gatewayUrl, timeZone }) => ({ email, gatewayUrl, quotaTimeZone: timeZone }),

  'GET /operator/requests': async (
    { query: { customer, limit: wanted, after, product, key: lastFour, caller, origin, ...filter } },
    { db, clock },
  ) => {
    const isOfAll = [customer, product, lastFour, caller, origin, ...Object.values(filter)].every((each) => each === undefined);
    const limit = isOfAll ? Math.min(wanted, MAX_OF_ALL) : wanted;
    const customerId = customer === undefined ? undefined : (await findCustomer(db, customer.replaceAll('\0', '')))?.id;
    if (customer !== undefined && customerId === undefined) return { requests: [], next: null };
    const plain = (text: string | undefined): string | undefined => text?.replaceAll('\0', '');
    const own = { product: plain(product), lastFour, callerAddress: plain(caller), originHost: plain(origin), customerId };
    const query = { ...readAnswerFilter(filter), ...own, limit, after };
    const { requests, next } = await searchRequests(db, query);
    const nowMs = clock.now();
    return { requests: requests.map((each) => ({ ...each, ...describeTold(each, nowMs) })), next: next ?? null };
  },

  'GET /operator/requests/:requestId': async ({ params: { requestId } }, { db, clock }) => {
    const request = await findRequest(db, { requestId });
    if (!request) throw new Refusal('request_unknown', { detail: UNKNOWN });
    return explainRequest(request, { reader: 'seller', nowMs: clock.now() });
  },

  'GET /operator/audit': async ({ query: { customer: customerId, limit: wanted, ...query } }, { db }) => {
    const limit = customerId === undefined ? Math.min(wanted, MAX_OF_ALL) : wanted;
    const { lines, next } = await searchAudit(db, { ...query, customerId, limit });
    return {
      entries: lines.map((line) => ({ ...line, subject: { kind: line.subjectKind, id: line.subjectId, label: line.label } })),
      next: next ?? null,
    };
  },

  'GET /operator/audit.csv': ({ query: { customer: customerId, ...query } }, { db, clock }) => ({
    filename: `tollgate-audit-${new Date(clock.now()).toISOString().slice(0, 10)}.csv`,
    content: records(db, { ...query, customerId }),
  }),

  'GET /operator/products': async (_call, deps) => {
    const day = todayOf(deps);
    const [figures, answered] = await Promise.all([readProductFigures(deps.db, day), readAnswered(deps.db, day)]);
    return { figures, answered, answerTimesMs: ANSWER_TIME_BOUNDS_MS };
  },

  /** The catalogue as the customers' pages show it, without subscriptions. */
  'GET /operator/catalogue': async (_call, deps) => {
    const source = await readCatalogueSource(deps.db);
    const placeOf = (id: string): string | null => {
      const line = source?.lines[id];
      return source === undefined || line === undefined ? null : `${source.file}:${line}`;
    };
    const { products } = await deps.catalogue();
    const changes = await listCatalogueChanges(deps.db, CHANGES_SHOWN);
    return {
      changes,
      products: products.map((product) => ({
        ...describeProduct(product, { liveSource: deps.liveSources?.find(product.id) }),
        source: placeOf(product.id),
      })),
    };
  },

  'GET /operator/catalogue/file': async (_call, { db, catalogueFile }) => compareFile(catalogueFile, await readAppliedCatalogue(db)),

  'GET /operator/nodes': async (_call, { db, clock }) => {
    const start = clock.monotonic();
    const database = await readStoreHealth(db);
    const answeredInMs = clock.monotonic() - start;
    return { nodes: await readNodes(db), database: { ...database, answeredInMs } };
  },
};
