import { z } from 'zod';
import { cursor, moment, pageSize } from './fields';

export type { AuditAction } from '../../../plugins/core/audit-actions';

export const listAuditQuery = z.object({ after: cursor.optional(), limit: pageSize });

/** Newest first. */
export const auditPage = z.object({
  entries: z.array(
    z.object({
      at: moment,
      /** Who: an e-mail address, a token by its name, or `operator`. */
      actor: z.string(),
      /** The address it came from, when it came through the dashboard. */
      from: z.string().nullable(),
      /** An `AuditAction`; one of a newer or older version may be none that this one knows. */
      action: z.string(),
      subject: z.object({ kind: z.string(), id: z.string(), /** Masked key, or product. */ label: z.string().nullable() }),
      details: z.record(z.string(), z.unknown()),
    }),
  ),
  next: cursor.nullable(),
});
export type AuditLog = z.output<typeof auditPage>;
