import { z } from 'zod';

/** The person whom a provider has identified. */
export const identity = z.object({
  /** The provider's own id, never given to another person. */
  subject: z.string().min(1),
  email: z.string().optional(),
  isEmailVerified: z.boolean(),
});
export type Identity = z.output<typeof identity>;
