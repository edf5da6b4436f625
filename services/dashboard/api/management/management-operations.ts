import { type Scope } from '../../contract/tokens';
import { endpoints } from '../endpoints';
import { type Endpoint } from '../http/define-endpoint';

/** One endpoint of the pages that a token may use too. */
export interface ManagementOperation {
  readonly endpoint: Endpoint;
  /** One of them is enough. */
  readonly scopes: readonly Scope[];
  /** For the API's description. */
  readonly summary: string;
  /** Its body names things by their ids, which may be unknown; a path with a name in it says so by itself. */
  readonly namesInBody?: true;
}

type Entry = Omit<ManagementOperation, 'endpoint'>;

/** By method and path. What is not here is not for tokens: account, sessions, tokens, audit log, webhooks and alerts are people's. */
const TABLE: Readonly<Record<string, Entry>> = {
  'GET /keys': { scopes: ['keys:read'], summary: 'List keys' },
  'POST /keys': { scopes: ['keys:write'], summary: 'Create a key; its secret is in this answer only' },
  'GET /keys/:id': { scopes: ['keys:read', 'rules:read'], summary: 'Show a key with its whitelist rules' },
  'GET /key-tags': { scopes: ['keys:read'], summary: 'List the tags in use' },
  'POST /keys/revoke': { scopes: ['keys:write'], summary: 'Revoke several keys for good, all or none', namesInBody: true },
  'PATCH /keys/:id': { scopes: ['keys:write'], summary: 'Change name, products, tags or expiry of a key' },
  'POST /keys/:id/activate': { scopes: ['keys:write'], summary: 'Activate a key' },
  'POST /keys/:id/deactivate': { scopes: ['keys:write'], summary: 'Deactivate a key' },
  'POST /keys/:id/revoke': { scopes: ['keys:write'], summary: 'Revoke a key for good' },
  'POST /keys/:id/rotate': { scopes: ['keys:write'], summary: 'Replace a key; the old one works on for a while' },
  'GET /keys/:id/propagation': { scopes: ['keys:read', 'rules:read'], summary: 'Which gateways act on the last change of a key' },
  'PUT /keys/:id/rules': { scopes: ['rules:write'], summary: 'Replace the whitelist rules of a key' },
  'POST /keys/:id/simulate': { scopes: ['rules:read'], summary: 'Would this caller be let in?' },
  'GET /products': { scopes: ['subscriptions:read'], summary: 'List products, with plans and your subscriptions' },
  'POST /subscriptions': { scopes: ['subscriptions:write'], summary: 'Subscribe to a product' },
  'PUT /subscriptions/:id/plan': { scopes: ['subscriptions:write'], summary: 'Change the plan of a subscription' },
  'PUT /subscriptions/:id/cap': { scopes: ['subscriptions:write'], summary: 'Set a daily cap of your own, or take it away' },
  'POST /subscriptions/:id/pause': { scopes: ['subscriptions:write'], summary: 'Pause a subscription' },
  'POST /subscriptions/:id/resume': { scopes: ['subscriptions:write'], summary: 'Resume a subscription' },
  'POST /subscriptions/:id/cancel': { scopes: ['subscriptions:write'], summary: 'Cancel a subscription' },
  'GET /usage': { scopes: ['usage:read'], summary: 'Requests used and refused, by product and day, or admitted and refused by hour' },
  'GET /usage.csv': { scopes: ['usage:read'], summary: 'The same as CSV' },
  'GET /keys/:id/usage': { scopes: ['usage:read'], summary: 'Requests with a key, by day or hour, product and outcome' },
  'GET /requests': { scopes: ['usage:read'], summary: 'Requests of the last 7 days, admitted ones too, by key, product, outcome and time' },
  'GET /requests.csv': { scopes: ['usage:read'], summary: 'The newest 100,000 of them as CSV' },
  'GET /refusals': { scopes: ['usage:read'], summary: 'Refused requests of the last 7 days' },
  'GET /explain/:requestId': { scopes: ['usage:read'], summary: 'Why a request was admitted or refused' },
};

const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`;

/** What a token can be used for, in the order of the table. */
export const managementOperations: readonly ManagementOperation[] = Object.entries(TABLE).map(([name, entry]) => {
  const endpoint = endpoints.find((each) => nameOf(each) === name);
  if (!endpoint) throw new Error(`there is no endpoint ${name}`);
  return { endpoint, ...entry };
});
