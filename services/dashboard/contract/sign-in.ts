import { z } from 'zod';
import { passwordProof } from './account';
import { id, moment } from './fields';

/** By whom people may sign in beside their passwords. */
export const provider = z.object({ id: z.string(), name: z.string() });
export type Provider = z.output<typeof provider>;

/** How the own account opens. */
export const ways = z.object({
  hasPassword: z.boolean(),
  connected: z.array(z.object({ id, name: z.string(), since: moment })),
  /** Not connected yet. */
  offered: z.array(provider),
});
export type Ways = z.output<typeof ways>;

export const wayParams = z.object({ id });
export const disconnectBody = passwordProof;
export const connectBody = passwordProof.extend({ provider: z.string().max(40) });
