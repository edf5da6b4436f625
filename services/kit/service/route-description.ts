import { type z } from 'zod';
import { type PublishedMethod } from '../../../plugins/core/catalogue/catalogue';
import { type ProblemCode } from '../../../plugins/core/problems';
import { type FinerCode } from '../finer-codes';

/** A header of a response, as OpenAPI describes one. */
export type HeaderDescription = {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer' | 'number' };
  /** True if every such response has the header. */
  readonly required?: true;
};

export const text = (description: string): HeaderDescription => ({ description, schema: { type: 'string' } });
export const integer = (description: string): HeaderDescription => ({ description, schema: { type: 'integer' } });
export const always = (header: HeaderDescription): HeaderDescription => ({ ...header, required: true });

/** A route in an example: the example's call, or a step before it. */
export interface ExampleStep {
  readonly method: PublishedMethod;
  readonly path: string;
  readonly example?: RouteExampleRules;
}

/** How the sandbox's documented success of a route becomes the route's example. */
interface RouteExampleRules {
  /** The path whose success is used. For an alias, which has no success of its own. */
  readonly of?: string;
  /** The routes that must be called first, in order, each handing on its `sessionId`. */
  readonly after?: readonly ExampleStep[];
  /** The fields of the success that this step sends, besides the sessionId; all unless given. */
  readonly sends?: readonly string[];
}

/** The cost of a request that may ask for several things: a unit for each that was done, at least one. */
export interface RouteUnits {
  /** The maximum cost of a request. The gateway reserves this many units (kong.yml, `post_units`); unused units are given back. */
  readonly most: number;
  /** What costs a unit, as words that follow "each": `point that was answered`. */
  readonly each: string;
}

/** What the generated documentation says about a route besides its schemas. */
export interface RouteDescription {
  /** What the route does and returns, in Markdown: whole sentences. */
  readonly does?: string;
  /** Whole sentences about what schemas and codes cannot express. */
  readonly notes?: string;
  /** A request costs one unit unless given. */
  readonly units?: RouteUnits;
  /** Purpose in a few words. Default: the catalogue's. */
  readonly purpose?: string;
  /** Codes of its refusals and failures, besides those of all routes. */
  readonly fails?: readonly (ProblemCode | FinerCode)[];
  /** Headers of its responses by status, besides those of all responses. */
  readonly headers?: Readonly<Record<number, Readonly<Record<string, HeaderDescription>>>>;
  /** Successes besides 200, by status. */
  readonly moreSuccesses?: Readonly<Record<number, string>>;
  /** Media types of a response of bytes. */
  readonly mediaTypes?: readonly string[];
  /** The file to which a code sample saves a response of bytes. */
  readonly savedAs?: string;
  readonly example?: RouteExampleRules;
  /** JSON frames of its WebSocket: `sent` by the caller, `received` from the route. */
  readonly frames?: { readonly sent: z.ZodType; readonly received: z.ZodType };
}
