import { z } from 'zod';
import { hashApiKey } from '../../../../plugins/core/access/api-key';
import { changeKeyOptimistically } from '../../../../plugins/stores/postgres/optimistic-lock';
import { changeKey } from '../../../../plugins/stores/postgres/keys/change-key';
import { createKey } from '../../../../plugins/stores/postgres/keys/create-key';
import { viewKey } from '../../../../plugins/stores/postgres/keys/key-view';
import { listKeysPage } from '../../../../plugins/stores/postgres/keys/list-keys-page';
import { listTags } from '../../../../plugins/stores/postgres/keys/key-tags';
import { revokeKeys } from '../../../../plugins/stores/postgres/keys/revoke-keys';
import { replaceKeyRules } from '../../../../plugins/stores/postgres/keys/whitelist-rules';
import { rotateKey } from '../../../../plugins/stores/postgres/keys/rotate-key';
import { runIdempotently } from '../../../../plugins/stores/postgres/idempotent-operation';
import { setKeyState } from '../../../../plugins/stores/postgres/keys/set-key-state';
import { id } from '../../contract/fields';
import {
  changeKeyBody,
  createdKey,
  createKeyBody,
  key,
  keyPage,
  listKeysQuery,
  replaceRulesBody,
  revokedKeys,
  revokeKeysBody,
  rotateKeyBody,
  simulateBody,
  simulation,
  tagList,
  versionBody,
} from '../../contract/keys';
import { defineEndpoint, type Endpoint } from '../http/define-endpoint';
import { takeRequest } from '../http/request-limit';
import { refuseSubscribingByRole } from '../team/require-member';
import { simulateCaller } from './simulate-caller';
import { describeKey, describeListedKey } from './describe-key';

const params = z.object({ id });
const HOUR_MS = 3_600_000;
/** As many as anybody chooses from. */
const MOST_TAGS_LISTED = 100;
/** A minute: each may read 10,000 rules. More than anybody clicks. */
const MOST_SIMULATIONS = 60;
/** A minute: each may replace 1,000 rules, which costs the database 30 ms and a line of the audit log that stays. */
const MOST_REPLACEMENTS = 60;

const list = defineEndpoint({
  method: 'GET',
  path: '/keys',
  needs: 'read',
  query: listKeysQuery,
  answer: keyPage,
  handler: async ({ query, caller: { customerId } }, { db, tryKeyOf }) => {
    const exceptHash = hashApiKey(tryKeyOf(customerId));
    const page = { ...query, customerId, exceptHash, count: query.count === 'true' };
    const { keys, next, total } = await listKeysPage(db, page);
    return { keys: keys.map(describeListedKey), next: next ?? null, total: total ?? null };
  },
});

const tags = defineEndpoint({
  method: 'GET',
  path: '/key-tags',
  needs: 'read',
  answer: tagList,
  handler: async ({ caller: { customerId } }, { db }) => ({ tags: await listTags(db, customerId, MOST_TAGS_LISTED) }),
});

const revokeMany = defineEndpoint({
  method: 'POST',
  path: '/keys/revoke',
  needs: 'keys',
  body: revokeKeysBody,
  answer: revokedKeys,
  handler: async ({ body: { ids }, caller: { customerId, actor } }, { db }) => ({
    revoked: await revokeKeys(db, { customerId, ids, actor }),
  }),
});

const create = defineEndpoint({
  method: 'POST',
  path: '/keys',
  needs: 'keys',
  body: createKeyBody,
  answer: createdKey,
  handler: async ({ body, caller }, { db }) => {
    const { customerId, actor } = caller;
    const { submission, name, mode, products, tags, expiresAt, rules } = body;
    await refuseSubscribingByRole(products, caller, { db });
    const wanted = {
      customer: customerId,
      actor,
      mode,
      products,
      tags,
      rules,
      keepsLimits: true,
      ...(name === undefined ? {} : { name }),
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt) }),
    };
    const { key: secret, id: made } = await runIdempotently(db, { customerId, submission }, (client) => createKey(client, wanted));
    return { secret, key: describeKey(await viewKey(db, { id: made, customerId })) };
  },
});

const show = defineEndpoint({
  method: 'GET',
  path: '/keys/:id',
  needs: 'read',
  params,
  answer: key,
  handler: async ({ params: { id: wanted }, caller: { customerId } }, { db }) => describeKey(await viewKey(db, { id: wanted, customerId })),
});

const change = defineEndpoint({
  method: 'PATCH',
  path: '/keys/:id',
  needs: 'keys',
  params,
  body: changeKeyBody,
  answer: key,
  handler: async ({ params: { id: wanted }, body, caller }, { db }) => {
    const { customerId, actor } = caller;
    const { version, name, products, tags, subscribes } = body;
    await refuseSubscribingByRole(products ?? [], caller, { db });
    const expiresAt = typeof body.expiresAt === 'string' ? new Date(body.expiresAt) : body.expiresAt;
    const ref = { id: wanted, customerId };
    const wish = { ...ref, name, products, tags, subscribes, expiresAt, actor, keepsLimits: true };
    return describeKey(await changeKeyOptimistically(db, { ...ref, version }, (client) => changeKey(client, wish)));
  },
});

const replaceRules = defineEndpoint({
  method: 'PUT',
  path: '/keys/:id/rules',
  needs: 'keys',
  params,
  body: replaceRulesBody,
  answer: key,
  handler: async ({ params: { id: wanted }, body: { version, rules }, caller: { customerId, actor } }, { db }) => {
    await takeRequest(db, { kind: 'rules', customerId, mostPerMinute: MOST_REPLACEMENTS });
    const ref = { id: wanted, customerId };
    return describeKey(
      await changeKeyOptimistically(db, { ...ref, version }, (client) => replaceKeyRules(client, { ...ref, rules, actor })),
    );
  },
});

function stateEndpoint(path: `/${string}`, state: 'active' | 'inactive' | 'revoked'): Endpoint {
  return defineEndpoint({
    method: 'POST',
    path,
    needs: 'keys',
    params,
    body: versionBody,
    answer: key,
    handler: async ({ params: { id: wanted }, body: { version }, caller: { customerId, actor } }, { db }) => {
      const ref = { id: wanted, customerId };
      return describeKey(await changeKeyOptimistically(db, { ...ref, version }, (client) => setKeyState(client, { ...ref, state, actor })));
    },
  });
}

const rotate = defineEndpoint({
  method: 'POST',
  path: '/keys/:id/rotate',
  needs: 'keys',
  params,
  body: rotateKeyBody,
  answer: createdKey,
  handler: async ({ params: { id: wanted }, body, caller: { customerId, actor } }, { db }) => {
    const { version, submission, overlapHours } = body;
    const ref = { id: wanted, customerId };
    const { key: secret, id: made } = await runIdempotently(db, { customerId, submission }, (client) =>
      changeKeyOptimistically(client, { ...ref, version }, () => rotateKey(client, { ...ref, overlapMs: overlapHours * HOUR_MS, actor })),
    );
    return { secret, key: describeKey(await viewKey(db, { id: made, customerId })) };
  },
});

const simulate = defineEndpoint({
  method: 'POST',
  path: '/keys/:id/simulate',
  needs: 'read',
  isRead: true,
  params,
  body: simulateBody,
  answer: simulation,
  handler: async ({ params: { id: wanted }, body, caller: { customerId } }, { db }) => {
    await takeRequest(db, { kind: 'simulate', customerId, mostPerMinute: MOST_SIMULATIONS });
    const stored = await viewKey(db, { id: wanted, customerId });
    return simulateCaller(
      { rules: body.rules ?? stored.rules, state: stored.expired && stored.state !== 'revoked' ? 'expired' : stored.state },
      body,
    );
  },
});

/** Making keys and changing them. Every change names the version that its page showed. */
export const keyEndpoints: readonly Endpoint[] = [
  list,
  tags,
  create,
  revokeMany,
  show,
  change,
  replaceRules,
  stateEndpoint('/keys/:id/activate', 'active'),
  stateEndpoint('/keys/:id/deactivate', 'inactive'),
  stateEndpoint('/keys/:id/revoke', 'revoked'),
  rotate,
  simulate,
];
