import { z } from 'zod';

/** What the reference page shows of a JSON schema. */
export interface FieldSchema {
  readonly type?: string | string[] | undefined;
  readonly description?: string | undefined;
  readonly format?: string | undefined;
  readonly const?: unknown;
  readonly enum?: unknown[] | undefined;
  readonly default?: unknown;
  readonly pattern?: string | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly uniqueItems?: boolean | undefined;
  readonly deprecated?: boolean | undefined;
  readonly readOnly?: boolean | undefined;
  readonly writeOnly?: boolean | undefined;
  readonly multipleOf?: number | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly exclusiveMaximum?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly required?: string[] | undefined;
  readonly properties?: Record<string, FieldSchema> | undefined;
  readonly items?: boolean | FieldSchema | undefined;
  readonly prefixItems?: FieldSchema[] | undefined;
  readonly anyOf?: FieldSchema[] | undefined;
  readonly additionalProperties?: boolean | FieldSchema | undefined;
  /** Name of a shape that is not written out here. */
  readonly title?: string | undefined;
  /** The value of a discriminator that stands for this shape. */
  readonly 'x-variant'?: string | undefined;
}

// A member that is of another kind than the specification's hides itself, and not its operation.
const text = z.string().optional().catch(undefined);
const count = z.number().optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);
const fieldSchema: z.ZodType<FieldSchema> = z.lazy(() =>
  z
    .object({
      type: z
        .union([z.string(), z.array(z.string())])
        .optional()
        .catch(undefined),
      description: text,
      format: text,
      const: z.unknown().optional(),
      enum: z.array(z.unknown()).optional().catch(undefined),
      default: z.unknown().optional(),
      pattern: text,
      minLength: count,
      maxLength: count,
      uniqueItems: flag,
      deprecated: flag,
      readOnly: flag,
      writeOnly: flag,
      multipleOf: count,
      minimum: count,
      maximum: count,
      exclusiveMinimum: count,
      exclusiveMaximum: count,
      minItems: count,
      maxItems: count,
      required: z.array(z.string()).optional().catch(undefined),
      properties: z.record(z.string(), fieldSchema).optional().catch(undefined),
      items: z.union([z.boolean(), fieldSchema]).optional(),
      prefixItems: z.array(fieldSchema).optional().catch(undefined),
      anyOf: z.array(fieldSchema).optional().catch(undefined),
      additionalProperties: z.union([z.boolean(), fieldSchema]).optional(),
      title: text,
      'x-variant': text,
    })
    // `true` is a schema: of anything.
    .catch({}),
);

const namedExample = z.object({ description: text, value: z.unknown().optional() }).catch({});
const media = z.object({
  schema: fieldSchema.optional(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), namedExample).optional().catch(undefined),
  /** The example is of the schema alone. */
  isMade: flag,
});
const content = z.record(z.string(), media.catch({}));
const parameter = z.object({
  in: z.enum(['query', 'path', 'header', 'cookie']),
  name: z.string(),
  required: flag,
  schema: fieldSchema,
  style: text,
  explode: flag,
  allowReserved: flag,
  /** The document describes it by a media type, as which its value is written. */
  isJson: flag,
  description: text,
  example: z.unknown().optional(),
  /** The example is of the schema alone. */
  isMade: flag,
});
/** One without a name, or with a place that calls do not have, cannot be sent. */
const parameters = z.array(parameter.optional().catch(undefined)).transform((all) => all.filter((each) => each !== undefined));

/** Our documents word each code in the description too. What another author says by the same word is not about refusals of ours. */
const isOurs = (description: string, codes: readonly string[]): boolean =>
  codes.length > 0 && codes.every((code) => description.includes(`\`${code}\` `));

const response = z
  .object({
    description: z.string().catch(''),
    content: content.optional().catch(undefined),
    'x-codes': z.array(z.string()).optional().catch(undefined),
  })
  .transform(({ 'x-codes': codes, ...rest }): typeof rest & { 'x-codes'?: string[] } =>
    codes && isOurs(rest.description, codes) ? { ...rest, 'x-codes': codes } : rest,
  )
  .catch({ description: '' });

const exampleFile = z.object({ filename: z.string(), contentType: z.string(), base64: z.string() });

const operation = z.object({
  operationId: z.string(),
  /** The product that it belongs to. */
  tags: z.tuple([z.string()]),
  /** Under which its author has it. */
  'x-group': text,
  summary: z.string(),
  deprecated: flag,
  description: text,
  parameters: parameters.optional().catch(undefined),
  requestBody: z.object({ content }).optional().catch(undefined),
  /** Responses by status. */
  responses: z.record(z.string(), response),
  'x-codeSamples': z.array(z.object({ lang: z.string(), label: z.string(), source: z.string() })),
  /** The file that the example uploads. */
  'x-exampleFile': exampleFile.optional(),
});
export type ApiOperation = z.output<typeof operation>;

const errorCode = z.object({
  code: z.string(),
  /** Whether only certain products send it. */
  isOwn: z.boolean(),
  failures: z.array(z.object({ status: z.number(), title: z.string(), charge: z.enum(['not taken', 'given back', 'charged']) })).readonly(),
  remedy: z.string(),
});
export type ErrorCode = z.output<typeof errorCode>;

/** `GET /openapi.json`, as far as the reference page reads it. */
export const apiDocument = z.object({
  servers: z.array(z.object({ url: z.string() })),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  /** What each code of a refusal or failure means. */
  'x-errors': z.array(errorCode).default([]),
  /** Broken operations of products' own documents. */
  'x-left-out': z.array(z.object({ product: z.string(), operation: z.string() })).default([]),
  /** Groups by product, in the order of its author. */
  'x-groups': z.record(z.string(), z.array(z.object({ name: z.string(), description: z.string().optional() }))).default({}),
  /** Operations by path, then by method in lower case. */
  paths: z.record(z.string(), z.record(z.string(), operation)),
});
export type ApiDocument = z.output<typeof apiDocument>;
