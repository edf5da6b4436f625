import { z } from 'zod';

// Kong's `upstreams`: the addresses behind one name, and how it notices that one of them is away. Defaults are Kong's, which checks
// nothing unless told to.

const statuses = (fallback: readonly number[]): z.ZodDefault<z.ZodArray<z.ZodNumber>> =>
  z
    .array(z.number().int().min(100).max(999))
    .min(1)
    .default([...fallback]);
const count = z.number().int().min(0).max(255).default(0);
const seconds = z.number().min(0).max(65_535);

const activeSchema = z.strictObject({
  type: z.enum(['http', 'tcp']).default('http'),
  http_path: z.string().startsWith('/').default('/'),
  timeout: seconds.default(1),
  concurrency: z.number().int().min(1).default(10),
  healthy: z.strictObject({ interval: seconds.default(0), successes: count, http_statuses: statuses([200, 302]) }).prefault({}),
  unhealthy: z
    .strictObject({
      interval: seconds.default(0),
      http_failures: count,
      tcp_failures: count,
      timeouts: count,
      http_statuses: statuses([429, 404, 500, 501, 502, 503, 504, 505]),
    })
    .prefault({}),
});

const passiveSchema = z.strictObject({
  type: z.enum(['http', 'tcp']).default('http'),
  healthy: z
    .strictObject({
      successes: count,
      http_statuses: statuses([200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304, 305, 306, 307, 308]),
    })
    .prefault({}),
  unhealthy: z
    .strictObject({ http_failures: count, tcp_failures: count, timeouts: count, http_statuses: statuses([429, 500, 503]) })
    .prefault({}),
});

const targetSchema = z.strictObject({
  target: z.string().regex(/^(\[[\da-f:]+\]|[\w.-]+)(:\d{1,5})?$/i, 'must be host:port'),
  weight: z.number().int().min(0).max(65_535).default(100),
});

export const upstreamSchema = z.strictObject({
  name: z.string().regex(/^[\w.-]+$/, 'must read as a host name'),
  algorithm: z.literal('round-robin').default('round-robin'),
  targets: z.array(targetSchema).min(1),
  healthchecks: z.strictObject({ active: activeSchema.prefault({}), passive: passiveSchema.prefault({}) }).prefault({}),
});

export type DeclaredUpstream = z.infer<typeof upstreamSchema>;
export type HealthChecks = DeclaredUpstream['healthchecks'];
