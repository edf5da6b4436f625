import { type z } from 'zod';
import { type PublishedMethod } from '../../../plugins/core/catalogue/catalogue';
import { type ProblemCode } from '../../../plugins/core/problems';
import { type FinerCode } from '../finer-codes';

/** A header of a response, as OpenAPI describes one. */
export type HeaderDescription = {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer' | 'number' };
  /** True where no such response lacks it. */
  readonly required?: true;
};

export const text = (description: string): HeaderDescription => ({ description, schema: { type: 'string' } });
export const integer = (description: string): HeaderDescription => ({ description, schema: { type: 'integer' } });
export const always = (header: HeaderDescription): HeaderDescription => ({ ...header, required: true });

/** A route whose example is a call, or a step before one. */
export interface ExampleStep {
  readonly method: PublishedMethod;
  readonly path: string;
  readonly example?: RouteExampleRules;
}

/** How the sandbox's documented success of a route becomes its example. */
export interface RouteExampleRules {
  /** The path whose success it takes: an alias has none of its own. */
  readonly of?: string;
  /** The routes that must be called first, in order, each handing on its `sessionId`. */
  readonly after?: readonly ExampleStep[];
  /** The fields of the success that this step sends, besides the sessionId; all unless given. */
  readonly sends?: readonly string[];
}

/** What a request costs that may ask for several things: a unit for each that was done, and one at least. */
export interface RouteUnits {
  /** The most that a request can cost. The gateway reserves so many (kong.yml, `post_units`); what is not used comes back. */
  readonly most: number;
  /** What costs a unit, after "each": `point that was answered`. */
  readonly each: string;
}

/** What the generated documentation says of a route besides its schemas. */
export interface RouteDescription {
  /** What it does and answers, in Markdown: whole sentences. */
  readonly does?: string;
  /** Whole sentences on what schemas and codes cannot say. */
  readonly notes?: string;
  /** A request costs one unit unless given. */
  readonly units?: RouteUnits;
  /** Purpose in a few words; the catalogue's unless given. */
  readonly purpose?: string;
  /** What it refuses or fails with, besides what all routes do. */
  readonly fails?: readonly (ProblemCode | FinerCode)[];
  /** Headers of its responses by status, besides those that all carry. */
  readonly headers?: Readonly<Record<number, Readonly<Record<string, HeaderDescription>>>>;
  /** Successes besides 200, by status. */
  readonly moreSuccesses?: Readonly<Record<number, string>>;
  /** What a response of bytes may be. */
  readonly mediaTypes?: readonly string[];
  /** The file in which a code sample keeps a response of bytes. */
  readonly savedAs?: string;
  readonly example?: RouteExampleRules;
  /** The JSON frames of its WebSocket, of a caller and of the route. */
  readonly frames?: { readonly sent: z.ZodType; readonly received: z.ZodType };
}
