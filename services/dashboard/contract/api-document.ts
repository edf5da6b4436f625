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
  /** Name of a schema that is not written out here. */
  readonly title?: string | undefined;
  /** The discriminator value of this schema. */
  readonly 'x-variant'?: string | undefined;
}

// A member of an unexpected type is hidden, but its operation stays.
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
    // `true` is a schema that accepts anything.
    .catch({}),
);

const namedExample = z.object({ description: text, value: z.unknown().optional() }).catch({});
const media = z.object({
  schema: fieldSchema.optional(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), namedExample).optional().catch(undefined),
  /** The example was made from the schema alone. */
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
  /** The document gives the parameter a media type, in which its value is written. */
  isJson: flag,
  description: text,
  example: z.unknown().optional(),
  /** The example was made from the schema alone. */
  isMade: flag,
});
/** A parameter without a name, or in a place that calls do not have, cannot be sent. */
const parameters = z.array(parameter.optional().catch(undefined)).transform((all) => all.filter((each) => each !== undefined));

/** Our documents name each code in the description too. Another author's `x-codes` are not our refusals. */
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
  /** The product to which the operation belongs. */
  tags: z.tuple([z.string()]),
  /** The group that its author gave it. */
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

/** The parts of `GET /openapi.json` that the reference page reads. */
export const apiDocument = z.object({
  servers: z.array(z.object({ url: z.string() })),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  /** What each code of a refusal or failure means. */
  'x-errors': z.array(errorCode).default([]),
  /** Broken operations of products' own documents. */
  'x-left-out': z.array(z.object({ product: z.string(), operation: z.string() })).default([]),
  /** Groups by product, in the author's order. */
  'x-groups': z.record(z.string(), z.array(z.object({ name: z.string(), description: z.string().optional() }))).default({}),
  /** Operations by path, then by method in lower case. */
  paths: z.record(z.string(), z.record(z.string(), operation)),
});
export type ApiDocument = z.output<typeof apiDocument>;
