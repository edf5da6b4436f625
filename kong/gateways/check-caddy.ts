import { z } from 'zod';
import { OF_LIMITS } from '../../plugins/core/access/reserved-responses';
import { ownNamesIn } from '../../plugins/core/key-places';

interface Handler {
  readonly handler: string;
  readonly routes?: readonly Route[] | undefined;
  readonly rewrite?: { readonly uri?: string | undefined } | undefined;
  readonly uri_substring?: readonly { readonly find: string; readonly replace?: string | undefined }[] | undefined;
  readonly headers?: { readonly request?: HeaderOperations | undefined } | undefined;
  readonly request?: HeaderOperations | undefined;
  /** Deferred: applied when the response is written, after the API's own headers. */
  readonly response?: (HeaderOperations & { readonly deferred?: boolean | undefined }) | undefined;
  /** Headers that copy_response_headers includes. */
  readonly include?: readonly string[] | undefined;
  readonly handle_response?: readonly HandledResponse[] | undefined;
  readonly transport?: { readonly response_header_timeout?: unknown } | undefined;
}

interface HandledResponse {
  readonly match?:
    { readonly status_code?: readonly number[] | undefined; readonly headers?: Readonly<Record<string, unknown>> | undefined } | undefined;
  readonly routes?: readonly Route[] | undefined;
}

interface Route {
  readonly match?: readonly unknown[] | undefined;
  readonly handle?: readonly Handler[] | undefined;
}

interface HeaderOperations {
  readonly set?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly delete?: readonly string[] | undefined;
}

const operations = z.object({ set: z.record(z.string(), z.array(z.string())).optional(), delete: z.array(z.string()).optional() });
const route: z.ZodType<Route> = z.lazy(() => z.object({ match: z.array(z.unknown()).optional(), handle: z.array(handler).optional() }));
const handler: z.ZodType<Handler> = z.object({
  handler: z.string(),
  routes: z.array(route).optional(),
  rewrite: z.object({ uri: z.string().optional() }).optional(),
  uri_substring: z.array(z.object({ find: z.string(), replace: z.string().optional() })).optional(),
  headers: z.object({ request: operations.optional() }).optional(),
  request: operations.optional(),
  response: operations.extend({ deferred: z.boolean().optional() }).optional(),
  include: z.array(z.string()).optional(),
  handle_response: z
    .array(
      z.object({
        match: z.object({ status_code: z.array(z.number()).optional(), headers: z.record(z.string(), z.unknown()).optional() }).optional(),
        routes: z.array(route).optional(),
      }),
    )
    .optional(),
  transport: z.object({ response_header_timeout: z.unknown().optional() }).optional(),
});

const log = z.object({
  writer: z.object({ output: z.string() }).optional(),
  encoder: z.unknown().optional(),
  include: z.array(z.string()).optional(),
});

const configuration = z.object({
  logging: z.object({ logs: z.record(z.string(), log).optional() }).optional(),
  apps: z.object({
    http: z.object({
      servers: z.record(
        z.string(),
        z.object({
          logs: z.unknown().optional(),
          routes: z.array(route).optional(),
          errors: z.object({ routes: z.array(route).optional() }).optional(),
        }),
      ),
    }),
  }),
});

const ANSWER = '{http.reverse_proxy.header.';

const isQuestion = ({ handler: kind, rewrite }: Handler): boolean => kind === 'reverse_proxy' && /\/authorize\//.test(rewrite?.uri ?? '');

/** All handlers of routes, including nested ones. */
function flatten(routes: readonly Route[] = []): Handler[] {
  return routes.flatMap(({ handle = [] }) => handle.flatMap((each) => [each, ...flatten(each.routes)]));
}

const deleted = (handlers: readonly Handler[]): string[] =>
  handlers.flatMap(({ request }) => request?.delete ?? []).map((name) => name.toLowerCase());

/**
 * Headers that only the gateway may set in a response, even in its own, and the place where the route keeps their values from an admission.
 */
const SAID: readonly (readonly [name: string, variable: string])[] = [
  ['X-Kong-Request-Id', 'tollgate_id'],
  ['RateLimit', 'tollgate_limits'],
  ['RateLimit-Policy', 'tollgate_policy'],
  ['Access-Control-Allow-Origin', 'tollgate_pages'],
  ['Access-Control-Expose-Headers', 'tollgate_exposed'],
];
const TAKEN = ['X-Tollgate-Context', ...OF_LIMITS.filter((name) => name.startsWith('X-'))];
/** Headers of an admission that Caddy's own errors repeat. */
const COPIED = SAID.slice(1).map(([name]) => name);

/** What is missing to keep an API from setting the gateway's headers, and to let pages read the gateway's own errors. */
function checkResponses(handlers: readonly Handler[]): string[] {
  const deferred = handlers.flatMap(({ response }) => (response?.deferred ? [response] : []));
  const set = deferred.flatMap((each) => Object.entries(each.set ?? {}).map(([name, [value]]) => `${name.toLowerCase()} ${value}`));
  const removed = deferred.flatMap((each) => each.delete ?? []).map((name) => name.toLowerCase());
  const copied = handlers.flatMap(({ include = [] }) => include).map((name) => name.toLowerCase());
  return [
    ...SAID.filter(([name, variable]) => !set.includes(`${name.toLowerCase()} {http.vars.${variable}}`)).map(
      ([name, variable]) =>
        `an API’s own ${name} reaches callers instead of the gateway’s. Add to the deferred headers of an admission: ${name} {http.vars.${variable}}`,
    ),
    ...TAKEN.filter((name) => !removed.includes(name.toLowerCase())).map(
      (name) => `an API’s own ${name} reaches callers. Add to the deferred headers of an admission: -${name}`,
    ),
    ...COPIED.filter((name) => !copied.includes(name.toLowerCase())).map(
      (name) => `Caddy’s own errors do not have ${name}. Add to the copy_response_headers of an admission: include ${name}`,
    ),
  ];
}

/** Checks the sub-request to the access layer, and the use of its response. */
function checkQuestion(question: Handler): string[] {
  const problems: string[] = [];
  const sent = Object.fromEntries(
    Object.entries(question.headers?.request?.set ?? {}).map(([name, [value]]) => [name.toLowerCase(), value]),
  );
  if (!/^\{http\.request\.(orig_)?uri\}$/.test(sent['x-forwarded-uri'] ?? ''))
    problems.push('X-Forwarded-Uri is not {http.request.orig_uri}');
  if (sent['x-forwarded-for'] === undefined) problems.push('X-Forwarded-For is not set: a client could say who it is');
  if (!question.rewrite?.uri?.endsWith('?'))
    problems.push('the question keeps the client’s query with its key: its rewrite must end with ?');
  if (question.transport?.response_header_timeout === undefined)
    problems.push('the question has no response_header_timeout: callers would wait forever');
  for (const { match, routes } of question.handle_response ?? []) {
    // A static response: nothing reaches a service.
    if (flatten(routes).some(({ handler: kind }) => kind === 'static_response' || kind === 'error')) continue;
    const statuses = match?.status_code ?? [];
    if (statuses.length !== 1 || (statuses[0] !== 200 && statuses[0] !== 2)) {
      problems.push('handle_response treats responses other than 200 as an admission');
      continue;
    }
    const handlers = flatten(routes);
    const set = handlers.flatMap(({ request }) =>
      Object.entries(request?.set ?? {}).map(([name, [value]]) => `${name.toLowerCase()} ${value}`),
    );
    problems.push(...checkResponses(handlers));
    if (!set.includes(`x-tollgate-context ${ANSWER}X-Tollgate-Context}`)) problems.push('the proof is not set: X-Tollgate-Context');
    for (const name of ['authorization', 'x-api-key', 'x_api_key']) {
      if (!deleted(handlers).includes(name)) problems.push(`the header ${name} passes the key on to the service`);
    }
    for (const name of ['cookie', 'referer']) {
      if (!deleted(handlers).includes(name))
        problems.push(`a copy of the key in ${name} is passed on to the service: X-Tollgate-Remove is not followed`);
    }
    const replacing = { find: '{http.request.uri.query}', replace: `${ANSWER}X-Tollgate-Query}` };
    const replaces = handlers.flatMap(({ uri_substring: all = [] }) => all);
    if (!replaces.some(({ find, replace }) => find === replacing.find && replace === replacing.replace)) {
      problems.push('the query is not replaced by X-Tollgate-Query: a key in the query is passed on');
    }
  }
  return problems;
}

interface Progress {
  /** The path of the sub-request, with the products. */
  question: string | undefined;
  readonly removed: ReadonlySet<string>;
}

interface Findings {
  readonly problems: Set<string>;
  /** Whether a product's responses report their cost. */
  readonly isByAnswer: (product: string) => boolean;
}

/** `weather` and `rain` in `/caddy/authorize/weather,rain;key_in=x-api-key?`. */
const productsOf = (question: string): string[] => (/\/authorize\/([^;?]*)/.exec(question)?.[1] ?? '').split(',');

/** Route-specific headers that carry the key. */
const keyHeadersOf = (question: string): readonly string[] => ownNamesIn(question.replace(/\?$/, '')).headers;

/** Whether it reports units, as the snippet tollgate_units does. */
const tellsUnits = ({ handle_response: handled = [] }: Handler): boolean =>
  handled.some(({ match }) => Object.keys(match?.headers ?? {}).some((name) => name.toLowerCase() === 'x-units'));

const unitsMissing = (question: string): string =>
  `the reverse_proxy of ${productsOf(question).join()} does not report what a response costs, and callers see it. Add to it: import tollgate_units`;

/** Walks handlers in the order in which Caddy runs them. The effects of a route without a matcher apply to later routes too. */
function walk(routes: readonly Route[], before: Progress, { problems, isByAnswer }: Findings): Progress {
  const hearsUnits = (question: string): boolean => productsOf(question).some(isByAnswer);
  let progress = before;
  for (const { match, handle = [] } of routes) {
    let here = progress;
    for (const each of handle) {
      if (each.handler === 'headers') here = { ...here, removed: new Set([...here.removed, ...deleted([each])]) };
      if (each.routes) here = walk(each.routes, here, { problems, isByAnswer });
      if (each.handler !== 'reverse_proxy') continue;
      if (isQuestion(each)) {
        checkQuestion(each).forEach((problem) => problems.add(problem));
        if (!here.removed.has('x-tollgate-*')) problems.add('request_header -X-Tollgate-* is missing: a client could pose as the gateway');
        if (!here.removed.has('x_tollgate_*'))
          problems.add('request_header -X_Tollgate_* is missing: a service may take it for X-Tollgate-');
        here = { ...here, question: each.rewrite?.uri };
      } else if (here.question === undefined)
        problems.add('a reverse_proxy does not ask the access layer first: its requests are passed on unchecked');
      else {
        for (const name of keyHeadersOf(here.question).filter((header) => !here.removed.has(header)))
          problems.add(`the header ${name} passes the key on to the service. Add behind import tollgate: request_header -${name}`);
        if (hearsUnits(here.question) && !tellsUnits(each)) problems.add(unitsMissing(here.question));
      }
    }
    if (!match) progress = here;
  }
  return progress;
}

/** @param encoder of a single log: a filter that removes headers and query */
function hidesKeys(encoder: unknown): boolean {
  const parsed = z.object({ format: z.literal('filter'), fields: z.record(z.string(), z.unknown()) }).safeParse(encoder);
  return parsed.success && 'request>headers' in parsed.data.fields && 'request>uri' in parsed.data.fields;
}

/** Whether a log reports to the plugin server: the request id is a header of the response. */
function tellsAnswers({ writer, include = [], encoder }: z.output<typeof log>): boolean {
  const fields = z.object({ fields: z.record(z.string(), z.unknown()) }).safeParse(encoder).data?.fields ?? {};
  const keepsId = !Object.keys(fields).some((name) => /^resp_headers(>x-kong-request-id)?$/i.test(name));
  return writer?.output === 'net' && include.includes('http.log.access') && keepsId;
}

/** What is missing for the plugin server to receive reports of APIs' responses on its ANSWERS_LISTEN. */
function checkAnswers({ apps, logging }: z.output<typeof configuration>): string[] {
  const guarded = Object.values(apps.http.servers).filter(({ routes }) => flatten(routes).some(isQuestion));
  return [
    ...(Object.values(logging?.logs ?? {}).some(tellsAnswers)
      ? []
      : ['API responses are not reported. Add the log tollgate_answers to the global options: import log.caddy']),
    ...(guarded.every(({ logs }) => logs !== undefined)
      ? []
      : [
          'a site that asks the access layer logs no requests, so responses of its APIs are not reported. Add to it: import tollgate_errors',
        ]),
  ];
}

/**
 * The dangers of a Caddy configuration that asks the access layer, and whatever it does not report about responses; empty if there are
 * none.
 * @param json the output of `caddy adapt`
 * @param isByAnswer whether a product's responses report their cost (`units` in the catalogue)
 * @throws Error if the text is not such a configuration
 */
export function checkCaddy(json: string, isByAnswer: (product: string) => boolean): string[] {
  const parsed = configuration.safeParse(JSON.parse(json));
  if (!parsed.success) throw new Error('it is not a Caddy configuration');
  const { apps, logging } = parsed.data;
  const problems = new Set<string>();
  const start = (): Progress => ({ question: undefined, removed: new Set() });
  const servers = Object.values(apps.http.servers);
  for (const { routes = [], errors } of servers) {
    walk(routes, start(), { problems, isByAnswer });
    walk(errors?.routes ?? [], start(), { problems, isByAnswer });
  }
  if (!servers.some(({ routes }) => flatten(routes).some(isQuestion))) problems.add('nothing asks the access layer at /authorize/');
  const logs = logging?.logs ?? {};
  for (const [name, { encoder }] of Object.entries({ default: { encoder: undefined }, ...logs })) {
    if (!hidesKeys(encoder))
      problems.add(`the log ${name} records queries and headers, and with them keys: filter request>uri and request>headers`);
  }
  checkAnswers(parsed.data).forEach((problem) => problems.add(problem));
  return [...problems];
}
