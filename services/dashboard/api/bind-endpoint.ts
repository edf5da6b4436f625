import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type z } from 'zod';
import { invalidInput } from '../../kit/errors';
import { JSON_TYPE, Reply } from '../../kit/reply';
import { validateInput } from '../../kit/validate';
import { type Caller, type DashboardDeps, type Endpoint } from './define-endpoint';

/** PostgreSQL has no text with this character. */
const NUL = '\0';

function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(NUL);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => name.includes(NUL) || holdsNul(member));
}

function check(value: unknown, schema: z.ZodType | undefined): unknown {
  if (!schema) return undefined;
  if (holdsNul(value)) throw invalidInput([{ field: 'request', message: 'must not hold the character U+0000' }]);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidInput([{ field: 'request', message: 'must be an object' }]);
  }
  return validateInput({ ...value }, new Set(), { schema, coercions: new Map(), status: 400 });
}

/**
 * A request's body by its schema; no body reads as an empty object.
 * @throws ServiceError 400 with `errors`
 */
export function readBody<Schema extends z.ZodType>(request: FastifyRequest, schema: Schema): z.output<Schema> {
  // What the check returns is the schema's output; the kit's checker, which takes any schema, cannot say so.
  return check(request.body ?? {}, schema) as z.output<Schema>;
}

export interface EndpointTools {
  readonly deps: DashboardDeps;
  /** @throws Refusal 401 `not_signed_in` */
  findCaller(request: FastifyRequest, reply: FastifyReply): Promise<Caller>;
}

function send(reply: FastifyReply, result: unknown): FastifyReply {
  if (result instanceof Reply) return reply.code(result.status).headers(result.headers).send(result.body);
  return reply.code(200).header('Content-Type', JSON_TYPE).send(JSON.stringify(result));
}

/** Binds one endpoint: who asks, then what is asked, then the handler. A stranger learns nothing of what would be valid. */
export function bindEndpoint(
  endpoint: Endpoint,
  tools: EndpointTools,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  return async (request, reply) => {
    const caller = await tools.findCaller(request, reply);
    const params = check(request.params, endpoint.params);
    const query = check(request.query, endpoint.query);
    const body = endpoint.body && readBody(request, endpoint.body);
    return send(reply, await endpoint.handler({ params, query, body, caller }, tools.deps));
  };
}
