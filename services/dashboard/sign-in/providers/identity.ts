import { z } from 'zod';

/** The person whom a provider has identified. */
export const identity = z.object({
  /** Of the provider's own, never given to somebody else. */
  subject: z.string().min(1),
  email: z.string().optional(),
  isEmailVerified: z.boolean(),
});
export type Identity = z.output<typeof identity>;
