import { z } from 'zod';

/** The person whom a provider has identified. What a provider signs may still be anything, so each part has a form. */
export const identity = z.object({
  /** The provider's own id, never given to another person. OpenID Connect Core 1.0, section 2: 255 ASCII characters at most. */
  subject: z.string().regex(/^[ -~]{1,255}$/),
  /** An address in another form counts as none: letters that look alike, or lists, are never another person's address. */
  email: z.email().max(254).optional().catch(undefined),
  isEmailVerified: z.boolean(),
});
export type Identity = z.output<typeof identity>;
