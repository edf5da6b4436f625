import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type z } from 'zod';
import { invalidInput } from '../../../kit/errors';
import { JSON_TYPE, Reply } from '../../../kit/service/reply';
import { checkSchema } from '../../../kit/input/validate';
import { type DashboardDeps, type Route } from './define-endpoint';

/** PostgreSQL has no text with this character. */
const NUL = '\0';

/** Levels of arrays and objects; nothing that is taken goes past two. A walk over a million of them would overflow the stack. */
const MOST_LEVELS = 16;

/** What no request may hold, whatever its schema says. */
function findFlaw(value: unknown, level = 0): string | undefined {
  if (typeof value === 'string') return value.includes(NUL) ? 'must not hold the character U+0000' : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (level > MOST_LEVELS) return `must not be nested deeper than ${MOST_LEVELS} levels`;
  for (const [name, member] of Object.entries(value)) {
    const flaw = findFlaw(name) ?? findFlaw(member, level + 1);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

function check(value: unknown, schema: z.ZodType | undefined): unknown {
  if (!schema) return undefined;
  const flaw = findFlaw(value);
  if (flaw !== undefined) throw invalidInput([{ field: 'request', message: flaw }]);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidInput([{ field: 'request', message: 'must be an object' }]);
  }
  return checkSchema({ ...value }, { schema, status: 400 });
}

/**
 * A request's body by its schema; no body reads as an empty object.
 * @throws ServiceError 400 with `errors`
 */
export function readBody<Schema extends z.ZodType>(request: FastifyRequest, schema: Schema): z.output<Schema> {
  // What the check returns is the schema's output; the kit's checker, which takes any schema, cannot say so.
  return check(request.body ?? {}, schema) as z.output<Schema>;
}

export interface EndpointTools<Who> {
  readonly deps: DashboardDeps;
  /** @throws Refusal 401 `not_signed_in`, 403 for somebody of another role */
  findCaller(request: FastifyRequest, reply: FastifyReply): Promise<Who>;
  /** Counts one change. @throws Refusal 429 `too_many_attempts` */
  takeWrite(caller: Who): Promise<void>;
}

function send(reply: FastifyReply, result: unknown): FastifyReply {
  if (result instanceof Reply) return reply.code(result.status).headers(result.headers).send(result.body);
  return reply.code(200).header('Content-Type', JSON_TYPE).send(JSON.stringify(result));
}

/** Binds one endpoint: who asks, then what is asked, then the handler. A stranger learns nothing of what would be valid. */
export function bindEndpoint<Who>(
  endpoint: Route<Who>,
  tools: EndpointTools<Who>,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  return async (request, reply) => {
    const caller = await tools.findCaller(request, reply);
    if (endpoint.method !== 'GET' && !endpoint.isRead) await tools.takeWrite(caller);
    const params = check(request.params, endpoint.params);
    const query = check(request.query, endpoint.query);
    const body = endpoint.body && readBody(request, endpoint.body);
    return send(reply, await endpoint.handler({ params, query, body, caller }, tools.deps));
  };
}
