import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Permission } from '../../selling/members/member-roles';
import { invalidInput } from '../../kit/errors';
import { JSON_TYPE } from '../../kit/service/reply';
import { unstorableIn } from '../../../plugins/core/unstorable-text';
import { checkSchema } from '../../kit/input/validate';
import { type Endpoint, type EndpointName, type Given, type Params, partsOf, type Schema } from '../contract/endpoint';
import { type Contract, type EndpointsFor } from '../contract/endpoints';
import { id } from '../contract/fields';
import { type Callers, type PersonOfOrganisation } from './callers';
import { type DashboardDeps } from './dashboard-deps';
import { shapeAnswer } from './shape-answer';

type Read<Found> = Found extends z.ZodType ? z.output<Found> : undefined;

type CallerOf<Definition> = Definition extends { for: 'persons'; needsForOrganisation: Permission }
  ? PersonOfOrganisation
  : Definition extends { for: infer For extends keyof Callers }
    ? Callers[For]
    : never;

/** What a handler gets, by the endpoint's definition. */
export interface Call<Name, Definition = Name extends keyof Contract ? Contract[Name] : never> {
  readonly params: Params<Name>;
  readonly query: Read<Schema<Definition, 'query'>>;
  readonly body: Read<Schema<Definition, 'body'>>;
  readonly caller: CallerOf<Definition>;
  readonly request: FastifyRequest;
  /** For setting cookies. */
  readonly reply: FastifyReply;
}

/** A file to be saved, sent in any number of pieces. */
export interface FileAnswer {
  readonly filename: string;
  readonly content: Iterable<string | Uint8Array> | AsyncIterable<string>;
}

type Result<Definition> =
  Schema<Definition, 'answer'> extends infer Answer extends z.ZodType
    ? Given<z.output<Answer>>
    : Definition extends { file: string }
      ? FileAnswer
      : void;

type Handler<Name, Definition> = (call: Call<Name, Definition>, deps: DashboardDeps) => Promise<Result<Definition>> | Result<Definition>;

/**
 * A handler for each endpoint of a part of the contract. A handler fails by throwing `OperationRefused`, `Refusal` or `ServiceError`;
 * anything else is a 500.
 */
export type Handlers<Part> = { readonly [Name in keyof Part]: Handler<Name, Part[Name]> };

/** Handlers of the endpoints for a customer's members and their programs. */
export type MemberHandlers = Handlers<EndpointsFor<'members'>>;

/** Maximum depth of arrays and objects; no accepted body is deeper than two. Walking a million levels would overflow the stack. */
const MAX_LEVELS = 16;

/** What no request may hold, whatever its schema allows. */
function findFlaw(value: unknown, level = 0): string | undefined {
  if (typeof value === 'string') {
    const found = unstorableIn(value);
    return found === undefined ? undefined : `must not hold ${found}`;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (level > MAX_LEVELS) return `must not be nested deeper than ${MAX_LEVELS} levels`;
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
export function readBody<Body extends z.ZodType>(request: FastifyRequest, schema: Body): z.output<Body> {
  // What the check returns is the schema's output; the kit's checker, which takes any schema, cannot say so.
  return check(request.body ?? {}, schema) as z.output<Body>;
}

/** Names in a path are UUIDs where the endpoint does not say otherwise. */
export function paramsOf(name: EndpointName, { params = {} }: Endpoint): z.ZodObject {
  const names = [...partsOf(name).path.matchAll(/:(\w+)/g)].map(([, each = '']) => each);
  return z.object(Object.fromEntries(names.map((each) => [each, params[each] ?? id])));
}

const compress = promisify(gzip);
/** Smaller responses gain nothing from compression; those with a secret are among them. */
const MIN_COMPRESSED = 4_096;

/** Figures by day and product are mostly repeated member names, which compress to a tenth. */
async function sendJson(request: FastifyRequest, reply: FastifyReply, text: string): Promise<FastifyReply> {
  reply.code(200).headers({ 'Content-Type': JSON_TYPE, Vary: 'Accept-Encoding' });
  if (text.length < MIN_COMPRESSED || !/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(text);
  return reply.header('Content-Encoding', 'gzip').send(await compress(text));
}

interface Sending {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly endpoint: Endpoint;
}

function send({ request, reply, endpoint: { answer, file } }: Sending, result: unknown): FastifyReply | Promise<FastifyReply> {
  if (answer) return sendJson(request, reply, JSON.stringify(shapeAnswer(answer, result)));
  if (file === undefined) return reply.code(204).send();
  // Handlers of an endpoint with a file return one, as their type requires.
  const { filename, content } = result as FileAnswer;
  reply.headers({ 'Content-Type': file, 'Content-Disposition': `attachment; filename="${filename}"` });
  return reply.code(200).send(Readable.from(content));
}

/** Whether a request counts as a change. */
export const isChange = (name: EndpointName, { isRead }: Endpoint): boolean => partsOf(name).method !== 'GET' && isRead !== true;

/** A handler of any endpoint. */
export type AnyHandler = (call: never, deps: DashboardDeps) => unknown;

export interface EndpointTools {
  readonly deps: DashboardDeps;
  /** Prefix of the paths; `/api` unless given. */
  readonly prefix?: string;
  /** @throws Refusal 401 `not_signed_in`, 403 for somebody of another role */
  readonly findCaller: (request: FastifyRequest, reply: FastifyReply) => unknown;
  /** Counts one change. @throws Refusal 429 `too_many_attempts` */
  readonly takeWrite?: (caller: never) => Promise<void>;
}

/**
 * Adds the route of one endpoint: finds the caller, then checks the input, then runs the handler. A stranger learns nothing about what
 * input is valid.
 */
export function addEndpoint(
  app: FastifyInstance,
  { name, endpoint, handler }: { readonly name: EndpointName; readonly endpoint: Endpoint; readonly handler: AnyHandler },
  { deps, findCaller, takeWrite, prefix = '/api' }: EndpointTools,
): void {
  const { method, path } = partsOf(name);
  const paramsSchema = paramsOf(name, endpoint);
  app.route({
    method,
    url: `${prefix}${path}`,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const caller = await findCaller(request, reply);
      // The callers and the calls of one list of endpoints are of one type, which the list's own types have checked.
      if (takeWrite && isChange(name, endpoint)) await takeWrite(caller as never);
      const params = check(request.params, paramsSchema);
      const query = check(request.query, endpoint.query);
      const body = endpoint.body && readBody(request, endpoint.body);
      return send({ request, reply, endpoint }, await handler({ params, query, body, caller, request, reply } as never, deps));
    },
  });
}
