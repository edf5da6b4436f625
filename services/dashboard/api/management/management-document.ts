import { z } from 'zod';
import { type ManagementOperation, managementOperations } from './management-operations';

type Schema = Readonly<Record<string, unknown>>;

/** What schemas cannot say in JSON Schema reads as anything. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return described;
}

/** `properties` and `required` of an object's schema, as parameters. */
function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query'): object[] {
  if (!schema) return [];
  const { properties, required } = z
    .object({ properties: z.record(z.string(), z.unknown()).default({}), required: z.array(z.string()).default([]) })
    .parse(jsonSchema(schema, 'input'));
  return Object.entries(properties).map(([name, each]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: each,
  }));
}

const problem = (description: string): object => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
});

function responsesOf({ endpoint, namesInBody }: ManagementOperation): object {
  const { answer, path, method, isRead } = endpoint;
  const isCsv = path.endsWith('.csv');
  const content = answer
    ? { 'application/json': { schema: jsonSchema(answer, 'output') } }
    : { [isCsv ? 'text/csv' : 'application/json']: { schema: {} } };
  const isChange = method !== 'GET' && !isRead;
  return {
    200: { description: 'Done', content },
    400: problem('The request is invalid; `errors` names the fields'),
    401: problem('`token_missing`, `token_not_valid` or `token_expired`'),
    403: problem(isChange ? '`scope_missing` or `customer_suspended`' : '`scope_missing`'),
    ...((path.includes(':') || namesInBody) && { 404: problem('There is nothing of yours with this id') }),
    ...(isChange && { 409: problem('The change does not fit the current state; `version_conflict` carries it as `current`') }),
    429: problem('`too_many_attempts`: wait as long as `Retry-After` says'),
  };
}

function describeOperation(operation: ManagementOperation): object {
  const { endpoint, scopes, summary } = operation;
  const { method, path, params, query, body } = endpoint;
  const parameters = [...parametersOf(params, 'path'), ...parametersOf(query, 'query')];
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[/:.]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    description: `Scope: ${scopes.map((each) => `\`${each}\``).join(' or ')}.`,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(body, 'input') } } } }),
    responses: responsesOf(operation),
  };
}

const PROBLEM: Schema = {
  type: 'object',
  description: 'RFC 9457',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', description: 'Stable, for programs' },
    request_id: { type: 'string' },
  },
};

/**
 * OpenAPI 3.1 of the management API, from the schemas that check it.
 * @param url where it begins
 */
export function describeManagementApi(url: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of managementOperations) {
    const path = operation.endpoint.path.replace(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[operation.endpoint.method.toLowerCase()] = describeOperation(operation);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate management API',
      version: '1',
      description:
        'Keys, whitelist rules, subscriptions and usage, for programs. Make a token under Tokens in the dashboard and send it as `Authorization: Bearer tg_admin_…`. A change names the `version` that it is based on; `submission` is a UUID of yours for each request that makes something: the same one again makes nothing new.',
    },
    servers: [{ url }],
    security: [{ token: [] }],
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A token `tg_admin_…`' } },
      schemas: { Problem: PROBLEM },
    },
    paths,
  };
}
