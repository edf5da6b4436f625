import { z } from 'zod';
import { PRODUCT_ID } from '../../../plugins/core/selling/catalogue';

/** ISO 8601, UTC. */
export const moment = z.iso.datetime();
/** `YYYY-MM-DD` in the quota time zone. */
export const day = z.iso.date();
export const id = z.uuid();
export const productId = z.string().regex(PRODUCT_ID, 'must be the id of a product');
/** Suspended by the provider: only the provider lifts it. An empty reason: none was given. */
export const suspension = z.object({ reason: z.string(), since: moment });
export type Suspension = z.output<typeof suspension>;
/** Changes whenever what it describes changes: a change based on an older version is refused with 409 `version_conflict`. */
export const version = z.string().min(1).max(64);
/** Made by the page for each form: the same one twice is the same request, a double submit. */
export const submission = z.uuid();
/** Opaque; from `next` of the page before. */
export const cursor = z.string().min(1).max(200);
export const pageSize = z.coerce.number().int().min(1).max(100).default(25);
/** As a customer writes them: addresses, CIDR ranges, domains, `*.` domains. */
export const rules = z.array(z.string().trim().min(1).max(255)).max(10_000);
export const keyName = z.string().trim().min(1).max(100);
export const planName = z.string().min(1).max(100);
