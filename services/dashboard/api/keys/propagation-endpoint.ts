import { z } from 'zod';
import { readPropagation } from '../../../../plugins/stores/postgres/nodes/read-propagation';
import { id } from '../../contract/fields';
import { propagation } from '../../contract/keys';
import { defineEndpoint } from '../http/define-endpoint';

/** Which gateway nodes act on the last change of a key. What they are called is their operator's business: customers see numbers. */
export const propagationEndpoint = defineEndpoint({
  method: 'GET',
  path: '/keys/:id/propagation',
  needs: 'read',
  params: z.object({ id }),
  answer: propagation,
  handler: async ({ params, caller: { customerId } }, { db }) => {
    const { changedAt, nodes } = await readPropagation(db, { id: params.id, customerId });
    return {
      changedAt: changedAt?.toISOString() ?? null,
      nodes: nodes.map(({ state, confirmedAt, seenAt }, index) => ({
        name: `Gateway ${index + 1}`,
        state,
        confirmedAt: confirmedAt?.toISOString() ?? null,
        seenAt: seenAt.toISOString(),
      })),
    };
  },
});
