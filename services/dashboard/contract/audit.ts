import { z } from 'zod';
import { cursor, moment, pageSize } from './fields';

export type { AuditAction } from '../../../plugins/core/selling/audit-actions';

/** The first part of an `AuditAction`: `account` is signing in and what secures it, `customer` what the provider did to the account. */
const auditKind = z.enum(['account', 'member', 'key', 'subscription', 'webhook', 'token', 'customer']);
export type AuditKind = z.output<typeof auditKind>;

export const listAuditQuery = z.object({ after: cursor.optional(), limit: pageSize, kind: auditKind.optional() });
export const exportAuditQuery = z.object({ kind: auditKind.optional() });

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
