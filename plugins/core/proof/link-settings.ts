import { z } from 'zod';
import { createLinkKeys, type LinkKeys } from './access-link';
import { parseSharedKeys } from './context-keys';

/** What links are sealed and opened with, the same at plugin servers and at the service that makes links. */
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
