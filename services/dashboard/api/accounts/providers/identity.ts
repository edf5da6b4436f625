import { z } from 'zod';

/** Whom a provider has shown to be there. */
export const identity = z.object({
  /** Of the provider's own, never given to somebody else. */
  subject: z.string().min(1),
  email: z.string().optional(),
  isEmailVerified: z.boolean(),
});
export type Identity = z.output<typeof identity>;
