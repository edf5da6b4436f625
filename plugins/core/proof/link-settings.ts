import { z } from 'zod';
import { createLinkKeys, type LinkKeys } from './access-link';
import { parseSharedKeys } from './context-keys';

/** The keys that seal and open links. Plugin servers and the service that makes links need the same keys. */
export const linkSettings = z.object({
  GDPLAY_LINK_KEYS: z
    .string()
    .transform((text, context): LinkKeys => {
      try {
        return createLinkKeys(parseSharedKeys(text));
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'cannot be read' });
        return z.NEVER;
      }
    })
    .optional(),
});
