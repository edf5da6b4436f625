import { hashApiKey } from '../../../../plugins/core/access/api-key';
import { changeKey, changeKeyOptimistically, keyVersion } from '../../../selling/keys/change-key';
import { createKey } from '../../../selling/keys/create-key';
import { type KeyRef, type KeyView, viewKey } from '../../../selling/keys/key-view';
import { listKeysPage } from '../../../selling/keys/list-keys-page';
import { listTags } from '../../../selling/keys/key-tags';
import { replaceKeyRules } from '../../../selling/keys/whitelist-rules';
import { rotateKey } from '../../../selling/keys/rotate-key';
import { runIdempotently } from '../../../selling/operations/idempotent-operation';
import { revokeKeys, setKeyState } from '../../../selling/keys/set-key-state';
import { readPropagation } from '../../../selling/keys/read-propagation';
import { type keyEndpoints } from '../../contract/keys';
import { type Call, type Handlers } from '../../http/bind-endpoint';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { takeRequest } from '../../http/request-limit';
import { refuseSubscribingByRole } from '../../http/require-member';
import { simulateCaller } from './simulate-caller';

const HOUR_MS = 3_600_000;
/** More tags than anybody chooses from. */
const MAX_TAGS_LISTED = 100;
/** Per minute. Each may read 1,000 rules, which takes 30 ms. It is more than anybody clicks. */
const MAX_SIMULATIONS = 60;
/** Per minute. Each may replace 1,000 rules, which costs the database 30 ms and a permanent line of the audit log. */
const MAX_REPLACEMENTS = 60;

/** A stored key in the form of the contract. */
export const toKey = (view: KeyView) => ({ ...view, version: keyVersion(view) });

const showKey = async (db: DashboardDeps['db'], ref: KeyRef) => toKey(await viewKey(db, ref));

type SettingState = Call<'POST /keys/:id/activate'>;

const setState =
  (state: 'active' | 'inactive' | 'revoked') =>
  async ({ params: { id }, body: { version }, caller: { customerId, actor } }: SettingState, { db }: DashboardDeps) => {
    const ref = { id, customerId };
    return toKey(await changeKeyOptimistically(db, { ...ref, version }, (client) => setKeyState(client, { ...ref, state, actor })));
  };

/** Making keys and changing them. */
export const keyHandlers: Handlers<typeof keyEndpoints> = {
  'GET /keys': async ({ query, caller: { customerId } }, { db, tryKeyOf }) => {
    const exceptHash = hashApiKey(tryKeyOf(customerId));
    const { keys, next, total } = await listKeysPage(db, { ...query, customerId, exceptHash, count: query.count === 'true' });
    return { keys, next: next ?? null, total: total ?? null };
  },

  'GET /key-tags': async ({ caller: { customerId } }, { db }) => ({ tags: await listTags(db, customerId, MAX_TAGS_LISTED) }),

  'POST /keys/revoke': async ({ body: { ids }, caller: { customerId, actor } }, { db }) => ({
    revoked: await revokeKeys(db, { customerId, ids, actor }),
  }),

  'POST /keys': async ({ body: { submission, ...wanted }, caller }, { db }) => {
    const { customerId, actor } = caller;
    await refuseSubscribingByRole(wanted.products, caller, { db });
    const made = await runIdempotently(db, { customerId, submission }, (client) =>
      createKey(client, { ...wanted, customer: customerId, actor, keepsLimits: true }),
    );
    return { secret: made.key, key: await showKey(db, { id: made.id, customerId }) };
  },

  'GET /keys/:id': ({ params: { id }, caller: { customerId } }, { db }) => showKey(db, { id, customerId }),

  'PATCH /keys/:id': async ({ params: { id }, body: { version, ...changes }, caller }, { db }) => {
    const { customerId, actor } = caller;
    await refuseSubscribingByRole(changes.products ?? [], caller, { db });
    const ref = { id, customerId };
    const wish = { ...changes, ...ref, actor, keepsLimits: true };
    return toKey(await changeKeyOptimistically(db, { ...ref, version }, (client) => changeKey(client, wish)));
  },

  'PUT /keys/:id/rules': async ({ params: { id }, body: { version, rules }, caller: { customerId, actor } }, { db }) => {
    await takeRequest(db, { kind: 'rules', customerId, mostPerMinute: MAX_REPLACEMENTS });
    const ref = { id, customerId };
    return toKey(await changeKeyOptimistically(db, { ...ref, version }, (client) => replaceKeyRules(client, { ...ref, rules, actor })));
  },

  'POST /keys/:id/activate': setState('active'),
  'POST /keys/:id/deactivate': setState('inactive'),
  'POST /keys/:id/revoke': setState('revoked'),

  'POST /keys/:id/rotate': async ({ params: { id }, body, caller: { customerId, actor } }, { db }) => {
    const { version, submission, overlapHours } = body;
    const ref = { id, customerId };
    const made = await runIdempotently(db, { customerId, submission }, (client) =>
      changeKeyOptimistically(client, { ...ref, version }, () => rotateKey(client, { ...ref, overlapMs: overlapHours * HOUR_MS, actor })),
    );
    return { secret: made.key, key: await showKey(db, { id: made.id, customerId }) };
  },

  'POST /keys/:id/simulate': async ({ params: { id }, body, caller: { customerId } }, { db }) => {
    await takeRequest(db, { kind: 'simulate', customerId, mostPerMinute: MAX_SIMULATIONS });
    const { rules, state, expired } = await viewKey(db, { id, customerId });
    return simulateCaller({ rules: body.rules ?? rules, state: expired && state !== 'revoked' ? 'expired' : state }, body);
  },

  'GET /keys/:id/propagation': async ({ params: { id }, caller: { customerId } }, { db }) => {
    const { changedAt, nodes } = await readPropagation(db, { id, customerId });
    // The names of nodes are internal to the platform engineer, so customers see numbers.
    return { changedAt: changedAt ?? null, nodes: nodes.map((node, index) => ({ ...node, name: `Gateway ${index + 1}` })) };
  },
};
