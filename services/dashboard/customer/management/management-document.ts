import { type FastifyInstance } from 'fastify';
import { z } from 'zod';
import { JSON_TYPE } from '../../../kit/service/reply';
import { type Endpoint, type EndpointName, partsOf } from '../../contract/endpoint';
import { contract } from '../../contract/endpoints';
import { type Scope } from '../../contract/fields';
import { type RefusalCode, refusalOf } from '../../contract/refusals';
import { isChange, paramsOf } from '../../http/bind-endpoint';

/** One endpoint of the pages that a token may call too. */
export interface TokenOperation<Allowed = string> {
  /** The path is below the API's prefix. */
  readonly name: EndpointName;
  readonly endpoint: Endpoint;
  /** One of them is enough. */
  readonly scopes: readonly Allowed[];
}
export type ManagementOperation = TokenOperation<Scope>;

/** Endpoints that a token may call; endpoints without scopes are for people. */
export const managementOperations: readonly ManagementOperation[] = Object.entries<Endpoint>(contract).flatMap(([name, endpoint]) =>
  // TypeScript names the keys of any object plain text.
  endpoint.for === 'members' && endpoint.scopes ? [{ name: name as EndpointName, endpoint, scopes: endpoint.scopes }] : [],
);

type Schema = Readonly<Record<string, unknown>>;

/** What JSON Schema cannot express becomes a schema that accepts anything. */
function jsonSchema(schema: z.ZodType): Schema {
  // A codec's input is what goes over the wire, in both directions.
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return described;
}

/** `properties` and `required` of an object's schema, as parameters. */
function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query'): object[] {
  if (!schema) return [];
  const { properties, required } = z
    .object({ properties: z.record(z.string(), z.unknown()).default({}), required: z.array(z.string()).default([]) })
    .parse(jsonSchema(schema));
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

/** The codes of a status, each between back quotes. */
function codesOf({ refuses = [] }: Endpoint, status: number): string {
  const codes: readonly RefusalCode[] = refuses;
  return codes
    .filter((code) => refusalOf(code).status === status)
    .map((code) => `\`${code}\``)
    .join(', ');
}

function responsesOf({ name, endpoint }: TokenOperation): object {
  const { answer, file } = endpoint;
  const content = answer
    ? { 'application/json': { schema: jsonSchema(answer) } }
    : { [file?.split(';')[0] ?? 'application/json']: { schema: {} } };
  const changes = isChange(name, endpoint);
  const [invalid, unknown, conflict] = [400, 404, 409].map((status) => codesOf(endpoint, status));
  return {
    200: { description: 'Done', content },
    400: problem(`The request is invalid; \`errors\` names the fields${invalid ? `, or the code is ${invalid}` : ''}`),
    401: problem('`token_missing`, `token_not_valid` or `token_expired`'),
    403: problem(changes ? '`scope_missing` or `customer_suspended`' : '`scope_missing`'),
    ...(unknown && { 404: problem(`You have nothing with this id: ${unknown}`) }),
    ...(changes && {
      409: problem(
        `The change does not match the current state${conflict ? `: ${conflict}` : ''}; \`version_conflict\` carries it as \`current\``,
      ),
    }),
    429: problem('`too_many_attempts`: wait as long as `Retry-After` says'),
  };
}

function describeOperation(operation: TokenOperation): object {
  const { name, endpoint, scopes } = operation;
  const { query, body, summary } = endpoint;
  const { method, path } = partsOf(name);
  const parameters = [...parametersOf(paramsOf(name, endpoint), 'path'), ...parametersOf(query, 'query')];
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[/:.]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    description: `Scope: ${scopes.map((each) => `\`${each}\``).join(' or ')}.`,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(body) } } } }),
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

export interface TokenApi {
  readonly title: string;
  readonly description: string;
  /** For example `tg_admin_…`. */
  readonly token: string;
  /** The address at which it begins. */
  readonly url: string;
  readonly operations: readonly TokenOperation[];
}

/** OpenAPI 3.1 of an API for programs, from the schemas that check it. */
export function describeApi({ title, description, token, url, operations }: TokenApi): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const { method, path } = partsOf(operation.name);
    (paths[path.replace(/:(\w+)/g, '{$1}')] ??= {})[method.toLowerCase()] = describeOperation(operation);
  }
  return {
    openapi: '3.1.0',
    info: { title, version: '1', description },
    servers: [{ url }],
    security: [{ token: [] }],
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: `A token \`${token}\`` } },
      schemas: { Problem: PROBLEM },
    },
    paths,
  };
}

/** Serves an API's document, made on the first request: making it takes a fifth of a second, which no start should wait for. */
export function serveDocument(app: FastifyInstance, path: string, describe: () => object): void {
  let text: string | undefined;
  app.get(path, { exposeHeadRoute: false }, (_request, reply) => {
    text ??= JSON.stringify(describe());
    return reply.header('Content-Type', JSON_TYPE).send(text);
  });
}

/** OpenAPI 3.1 of the management API. @param url where it begins */
export function describeManagementApi(url: string): object {
  return describeApi({
    title: 'Tollgate management API',
    description:
      'Keys, whitelist rules, subscriptions and usage, for programs. Create a token under Tokens in the dashboard and send it as `Authorization: Bearer tg_admin_…`. A change names the `version` that it is based on; `submission` is a UUID that you choose for each request that creates something: sending the same UUID again creates nothing new.',
    token: 'tg_admin_…',
    url,
    operations: managementOperations,
  });
}
