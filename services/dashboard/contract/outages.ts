import { z } from 'zod';
import { type Endpoints } from './endpoint';
import { id, moment } from './fields';

const outage = z.object({
  id,
  product: z.string(),
  title: z.string(),
  beganAt: moment,
  /** Null while it goes on. */
  endedAt: moment.nullable(),
});
export type Outage = z.input<typeof outage>;

const outageOfAll = outage.extend({
  /** Responses to all customers since the outage began, and how many of them were 500 to 599. */
  answered: z.number(),
  failed: z.number(),
});

/** Products that fail, or did within the last day; the latest first. */
export const outageEndpoints = {
  'GET /outages': {
    for: 'members',
    needs: 'read',
    scopes: ['usage:read'],
    summary: 'Outages of products in which your requests failed: ongoing ones, and those that ended within a day',
    answer: z.object({ outages: z.array(outage) }),
  },
} as const satisfies Endpoints;

/** The same for operators, of all customers. */
export const operatorOutageEndpoints = {
  'GET /operator/outages': {
    for: 'operators',
    summary: 'List outages of products: ongoing ones, and those that ended within a day',
    answer: z.object({ outages: z.array(outageOfAll) }),
  },
} as const satisfies Endpoints;
