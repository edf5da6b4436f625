import { FORGEABLE } from '../../plugins/core/access/request-variable';
import { apiVariableOf, NEVER_OF_APIS, OF_LIMITS, OF_PAGES } from '../../plugins/core/access/reserved-responses';
import { UNITS_HEADER } from '../../plugins/core/catalogue/units';
import { ownNamesIn } from '../../plugins/core/key-places';
import { type Directive, parseNginx, type ReadIncluded } from './nginx-syntax';

/** Directives of the enclosing blocks, innermost last: nginx uses the innermost block that has a directive of that name. */
type Scope = readonly (readonly Directive[])[];

const isPass = ({ name }: Directive): boolean => /^(proxy|fastcgi|grpc|uwsgi|scgi)_pass$/.test(name);

/** All directives of a name in the innermost block that has any: this is how nginx inherits them. */
function effective(scope: Scope, name: string): readonly Directive[] {
  for (const block of [...scope].reverse()) {
    const own = block.filter((directive) => directive.name === name);
    if (own.length > 0) return own;
  }
  return [];
}

const valueOf = (scope: Scope, name: string): string | undefined => effective(scope, name)[0]?.args[0];

function headersOf(scope: Scope): Map<string, string> {
  return new Map(effective(scope, 'proxy_set_header').map(({ args }) => [(args[0] ?? '').toLowerCase(), args[1] ?? '']));
}

/** Headers that every request to a service must set or clear. */
const REQUIRED: ReadonlyMap<string, string> = new Map([
  ['x-tollgate-context', '$tollgate_context'],
  ['authorization', '$tollgate_authorization'],
  ['x-api-key', ''],
  ['cookie', '$tollgate_cookie'],
  ['referer', '$tollgate_referer'],
  ['upgrade', '$tollgate_upgrade'],
  ['connection', '$tollgate_connection'],
  ['http2-settings', ''],
  ...FORGEABLE.filter((name) => name !== 'context').map((name) => [`x-tollgate-${name}`, ''] as const),
]);

/** The same for guard.lua, which removes the credentials from the request itself and adds the proof. */
const REQUIRED_OF_LUA: ReadonlyMap<string, string> = new Map(
  [...REQUIRED].filter(([name]) => ['upgrade', 'connection', 'http2-settings'].includes(name)),
);

/** Headers that the sub-request to the access layer must set, from these sources only, because the client can send all of them. */
const PASSED_ON: ReadonlyMap<string, string> = new Map([
  ['x-forwarded-uri', '$request_uri'],
  ['x-forwarded-for', '$remote_addr'],
  ['x-request-id', '$request_id'],
]);

/** kong/gateways/nginx-lua. */
const isLuaGuard = ({ name, args }: Directive): boolean => name === 'access_by_lua_file' && args[0]?.endsWith('/guard.lua') === true;

const isQuestion = (directive: Directive): boolean => isPass(directive) && /\/authorize\//.test(directive.args[0] ?? '');

function checkHeaders(scope: Scope, required: ReadonlyMap<string, string>): string[] {
  const set = headersOf(scope);
  return [...required].flatMap(([name, value]) => {
    const given = set.get(name);
    if (given === undefined) return [`proxy_set_header ${name} is missing: what the client sends under that name is passed on`];
    return given === value ? [] : [`proxy_set_header ${name} must be ${value === '' ? 'empty' : value}`];
  });
}

function checkQuestion(scope: Scope): string[] {
  return [
    ...(effective(scope.slice(-1), 'internal').length > 0 ? [] : ['internal is missing: clients could ask the access layer themselves']),
    ...(valueOf(scope, 'proxy_next_upstream') === 'off' ? [] : ['proxy_next_upstream is not off: a request could be charged twice']),
    ...(valueOf(scope, 'proxy_pass_request_body') === 'off'
      ? []
      : ['proxy_pass_request_body is not off: the question is refused with a body']),
    ...checkHeaders(scope, PASSED_ON),
  ];
}

/** Whether the server of a location has the location that its auth_request names. Without it another location would respond. */
function hasPlace(scope: Scope, place: string | undefined): boolean {
  return scope.some((block) =>
    block.some(({ name, args, block: inner = [] }) => name === 'location' && args.join(' ') === `= ${place}` && inner.some(isQuestion)),
  );
}

/** Route-specific headers that carry the key. */
function ownHeaders(scope: Scope): (readonly [string, string])[] {
  const product = scope.flat().findLast(({ name, args }) => name === 'set' && args[0] === '$tollgate_product')?.args[1] ?? '';
  return ownNamesIn(product).headers.map((header) => [header, '']);
}

function checkPassing(scope: Scope, pass: Directive): string[] {
  const question = effective(scope, 'auth_request')[0];
  // Disabled in this very place, so that is intended.
  if (question?.args[0] === 'off') return [];
  const isLua = effective(scope, 'access_by_lua_file').some(isLuaGuard);
  if (!question && !isLua)
    return ['auth_request is missing: requests are passed on unchecked; auth_request off says that this is intended'];
  const problems: string[] = [];
  if (question && !hasPlace(scope, question.args[0])) {
    problems.push(`the server has no location = ${question.args[0]}: include server.conf in it`);
  }
  if (valueOf(scope, 'satisfy') === 'any') problems.push('satisfy any lets an allowed address pass without a key');
  if (effective(scope, 'mirror').some(({ args }) => args[0] !== 'off')) problems.push('mirror sends the key to another server');
  if (!scope.some((block) => block.some(({ name, args }) => name === 'set' && args[0] === '$tollgate_product'))) {
    problems.push('set $tollgate_product is missing: every request is refused');
  }
  if (pass.name !== 'proxy_pass') return [...problems, `${pass.name} removes no credentials from the request`];
  if (!pass.args[0]?.endsWith('$tollgate_uri'))
    problems.push('proxy_pass does not end with $tollgate_uri: a key in the query is passed on');
  return [...problems, ...checkHeaders(scope, isLua ? REQUIRED_OF_LUA : new Map([...REQUIRED, ...ownHeaders(scope)]))];
}

/**
 * The log format that the plugin server reads (plugins/core/access/answer-line.ts), and its addition for APIs whose responses report their
 * cost.
 */
const ANSWER = '$request_id $status $request_time $body_bytes_sent $upstream_header_time';
const UNITS = 'units=$upstream_http_x_units';
const ANSWER_LOG = 'access_log syslog:server=127.0.0.1:9514,nohostname,tag=tg tollgate_answer;';

/** Response headers that only the gateway may set, and the variables with their values. */
const SAID: readonly (readonly [name: string, variable: string])[] = [
  ['X-Kong-Request-Id', '$request_id'],
  ...[...OF_LIMITS, ...OF_PAGES].map((name) => [name, apiVariableOf(name)] as const),
];
/** The same for nginx's own errors: the remaining quota, and the pages that may read the response. */
const SAID_OF_ERRORS: readonly (readonly [name: string, variable: string])[] = [
  ['X-Kong-Request-Id', '$request_id'],
  ['RateLimit', '$tollgate_ratelimit'],
  ['RateLimit-Policy', '$tollgate_ratelimit_policy'],
  ['Access-Control-Allow-Origin', '$tollgate_allow_origin'],
  ['Access-Control-Expose-Headers', '$tollgate_expose_headers'],
];

/** nginx uses only the innermost block with any of these: a single one in a location drops all inherited ones. */
function checkAdded(scope: Scope, said: typeof SAID, whose: string): string[] {
  const added = effective(scope, 'add_header').map(({ args: [name = '', ...rest] }) => [name.toLowerCase(), ...rest].join(' '));
  return said.flatMap(([name, variable]) =>
    added.includes(`${name.toLowerCase()} ${variable} always`)
      ? []
      : [`${whose} do not have ${name}. Add beside the other add_header: add_header ${name} ${variable} always;`],
  );
}

/** Whether an API can set the gateway's headers. */
function checkResponses(scope: Scope): string[] {
  const hidden = effective(scope, 'proxy_hide_header').map(({ args }) => args[0]?.toLowerCase());
  const problems = [...NEVER_OF_APIS, ...OF_LIMITS, ...OF_PAGES].flatMap((name) => {
    if (hidden.includes(name.toLowerCase())) return [];
    const what =
      name === UNITS_HEADER ? 'callers see the cost that an API reports for its response' : `an API’s own ${name} reaches callers`;
    return [`${what}. Add: proxy_hide_header ${name};`];
  });
  return [...problems, ...checkAdded(scope, SAID, 'responses')];
}

/** What a guarded location lacks for the plugin server to receive reports of the API's responses on its ANSWERS_LISTEN. */
function checkAnswers(scope: Scope, formats: ReadonlyMap<string, string>): string[] {
  const problems: string[] = [];
  if (effective(scope, 'access_by_lua_file').some(isLuaGuard)) {
    const isTold = effective(scope, 'log_by_lua_file').some(({ args }) => args[0]?.endsWith('/tell.lua'));
    return isTold
      ? problems
      : [...problems, 'API responses are not reported. Add to the server: log_by_lua_file /etc/nginx/tollgate/tell.lua;'];
  }
  const [accessLog] = effective(scope, 'access_log').filter(({ args: [place = ''] }) => /^syslog:.*\btag=tg(,|$)/.test(place));
  if (!accessLog) return [...problems, `API responses are not reported. Add to the server: ${ANSWER_LOG}`];
  const [, name = 'combined'] = accessLog.args;
  const format = formats.get(name) ?? '';
  const wanted = `log_format ${name} '${ANSWER} ${UNITS}';`;
  if (!`${format} `.startsWith(`${ANSWER} `)) return [...problems, `the plugin server cannot read the format ${name}. Write: ${wanted}`];
  if (!format.split(' ').includes(UNITS)) problems.push(`the format ${name} does not report what a response costs. Write: ${wanted}`);
  return problems;
}

const SECRET_VARIABLE = /\$\{?(request|request_uri|args|query_string|arg_api_key|http_x_api_key|http_authorization|http_cookie)\b(?!_)/;

/** Logs of a server that contain keys. */
function checkLogs(scope: Scope, formats: ReadonlyMap<string, string>): string[] {
  const problems: string[] = [];
  const [errorLog] = effective(scope, 'error_log');
  if (!['alert', 'emerg'].includes(errorLog?.args[1] ?? '') && errorLog?.args[0] !== '/dev/null') {
    problems.push('error_log is not at alert: nginx adds the request line, with any key in the query, to its errors');
  }
  const accessLogs = effective(scope, 'access_log');
  for (const { args } of accessLogs.length > 0 ? accessLogs : [{ args: ['logs/access.log'] }]) {
    const [place, format = 'combined'] = args;
    if (place === 'off') continue;
    const text = formats.get(format);
    if (text === undefined || SECRET_VARIABLE.test(text)) problems.push(`access_log in the format ${format} records a key in the query`);
  }
  return problems;
}

/** Whether a directive, or one inside it, concerns the access layer. Other servers may log anything. */
const asks = (directive: Directive): boolean =>
  (directive.name === 'auth_request' && directive.args[0] !== 'off') ||
  isLuaGuard(directive) ||
  isQuestion(directive) ||
  (directive.block?.some(asks) ?? false);

const usesLua = (directive: Directive): boolean => isLuaGuard(directive) || (directive.block?.some(usesLua) ?? false);

/** Checks the own responses of a server that asks the access layer, such as the 502 for an API that is down. */
function checkErrors(server: Scope): string[] {
  const place = effective(server, 'error_page')
    .find(({ args }) => args.includes('502') && args.includes('504'))
    ?.args.at(-1);
  const location = server.at(-1)?.find(({ name, args }) => name === 'location' && args.join(' ') === `= ${place}`);
  if (!location?.block)
    return ['errors of nginx itself are not JSON problems, and pages cannot read them: include server.conf in the server'];
  // With Lua the headers of an admission stay.
  const said = server.at(-1)?.some(usesLua) ? SAID_OF_ERRORS.slice(0, 1) : SAID_OF_ERRORS;
  return checkAdded([...server, location.block], said, 'errors of nginx itself');
}

/** Whether a location asks the access layer before it passes requests on. */
const isChecked = (scope: Scope, pass: Directive): boolean =>
  !isQuestion(pass) && [...effective(scope, 'auth_request'), ...effective(scope, 'access_by_lua_file')].some(asks);

const SWITCHES: readonly (readonly [name: string, value: string, why: string])[] = [
  ['underscores_in_headers', 'on', 'lets X_API_Key and X_Tollgate_Context through to services'],
  ['ignore_invalid_headers', 'off', 'lets headers through unchecked'],
  ['merge_slashes', 'off', 'chooses routes by a path other than the one that the access layer passes on'],
];

/**
 * The dangers of an nginx configuration that asks the access layer, and whatever it does not report about responses; empty if there are
 * none.
 * @throws Error if it cannot be parsed
 */
export function checkNginx(text: string, readIncluded: ReadIncluded): string[] {
  const problems = new Set<string>();
  const formats = new Map<string, string>();
  let questions = 0;
  const visit = (block: readonly Directive[], outer: Scope, where: string): void => {
    const scope = [...outer, block];
    for (const directive of block) {
      const { name, args } = directive;
      if (name === 'log_format') formats.set(args[0] ?? '', args.slice(1).join(''));
      for (const [switched, value, why] of SWITCHES) if (name === switched && args[0] === value) problems.add(`${name} ${value} ${why}`);
      if (isLuaGuard(directive)) questions++;
      if (isPass(directive)) {
        if (isQuestion(directive)) questions++;
        const found = isQuestion(directive) ? checkQuestion(scope) : checkPassing(scope, directive);
        found.forEach((problem) => problems.add(`${where}: ${problem}`));
        if (isChecked(scope, directive))
          [...checkResponses(scope), ...checkAnswers(scope, formats)].forEach((problem) => problems.add(problem));
      }
      const inner = ['location', 'if', 'server', 'limit_except'].includes(name) ? `${name} ${args.join(' ')}`.trim() : where;
      if (directive.block) visit(directive.block, scope, inner);
      if (name === 'server' && directive.block?.some(asks)) {
        const server = [...scope, directive.block];
        [...checkErrors(server), ...checkLogs(server, formats)].forEach((each) => problems.add(each));
      }
    }
  };
  visit(parseNginx(text, readIncluded), [], 'the configuration');
  if (questions === 0) problems.add('nothing asks the access layer: no location passes a question to /authorize/');
  return [...problems];
}
