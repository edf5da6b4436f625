import { z } from 'zod';
import { CSV, type Endpoints } from './endpoint';
import { cursor, moment, pageSize } from './fields';

export type { AuditAction } from '../../selling/customers/audit-actions';

/** The first part of an `AuditAction`: `account` is signing in and its security, `customer` is what the seller did to the account. */
const auditKind = z.enum(['account', 'member', 'key', 'subscription', 'webhook', 'token', 'billing', 'customer']);
export type AuditKind = z.input<typeof auditKind>;

/** Newest first. */
const auditPage = z.object({
  entries: z.array(
    z.object({
      at: moment,
      /** The actor: an email address, the name of a token, or `operator`. */
      actor: z.string(),
      /** The network address of the request, if it came through the dashboard. */
      from: z.string().nullable(),
      /** An `AuditAction`; one of a newer or older version may be unknown here. */
      action: z.string(),
      subject: z.object({ kind: z.string(), id: z.string(), /** Masked key, or product. */ label: z.string().nullable() }),
      details: z.record(z.string(), z.unknown()),
    }),
  ),
  next: cursor.nullable(),
});
export type AuditLog = z.input<typeof auditPage>;

/** Who changed what in the account. */
export const auditEndpoints = {
  'GET /audit': {
    for: 'members',
    needs: 'read',
    summary: 'List who changed what',
    query: z.object({ after: cursor.optional(), limit: pageSize, kind: auditKind.optional() }),
    answer: auditPage,
  },
  'GET /audit.csv': {
    for: 'members',
    needs: 'read',
    summary: 'All of it as CSV',
    query: z.object({ kind: auditKind.optional() }),
    file: CSV,
  },
} as const satisfies Endpoints;
