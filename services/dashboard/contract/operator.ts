import { z } from 'zod';

/** Which operator is signed in, and what the pages need to know of this installation. */
export const operatorSession = z.object({
  email: z.string(),
  /** Base URL of the gateway. */
  gatewayUrl: z.string(),
  quotaTimeZone: z.string(),
});
export type OperatorSession = z.output<typeof operatorSession>;
