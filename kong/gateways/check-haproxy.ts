import { OF_LIMITS, OF_PAGES } from '../../plugins/core/access/reserved-responses';

interface Section {
  readonly kind: string;
  readonly name: string;
  readonly lines: readonly string[];
}

const SECTION =
  /^(global|defaults|frontend|backend|listen|resolvers|peers|userlist|cache|program|ring|mailers|http-errors|fcgi-app|log-forward)(?:\s+(\S+)|$)/;

/** The sections without comments. */
function sectionsOf(text: string): Section[] {
  const sections: { kind: string; name: string; lines: string[] }[] = [];
  for (const line of text.split('\n').map((each) => each.trim())) {
    const [, kind = '', name = ''] = SECTION.exec(line) ?? [];
    if (kind !== '') sections.push({ kind, name, lines: [] });
    else if (line !== '' && !line.startsWith('#')) sections.at(-1)?.lines.push(line);
  }
  return sections;
}

const ADMITTED = 'var(txn.tollgate_admitted) -m bool';
/** The log line that the plugin server reads (plugins/core/access/answer-line.ts); APIs whose responses report their cost add to it. */
const ANSWER = 'tg: %[var(txn.tollgate_id)] %ST %Ta %B %Tr';
const UNITS = 'units=%[var(txn.tollgate_units)]';
/** Refuses a request with trailers. */
const TRAILERS = 'filter lua.tollgate_trailers';
/** Format variables for the request line, the URL with its query, and captured headers. */
const SECRET = /%(?:\{[^}]*\})?(?:r|HU|HQ|hr|hrl)\b/;

/** A backend continues if its Lua action fails. The line after the action must then refuse the request. */
function checkBackend({ name, lines }: Section): string[] {
  const asked = lines.findIndex((line) => line.startsWith('http-request lua.tollgate '));
  if (asked < 0) return [`backend ${name}: http-request lua.tollgate is missing: requests are passed on unchecked`];
  const refuses = lines.findIndex((line) => /^http-request deny\b/.test(line) && line.endsWith(`unless { ${ADMITTED} }`));
  return refuses > asked
    ? []
    : [
        `backend ${name}: requests are passed on when lua.tollgate fails. Add behind it: http-request deny deny_status 503 unless { ${ADMITTED} }`,
      ];
}

function checkLogs(lines: readonly string[]): string[] {
  const formats = lines.filter((line) => line.startsWith('log-format '));
  const holdsKeys = lines.some((line) => /^option httpslog\b|^option httplog\b/.test(line)) || formats.some((line) => SECRET.test(line));
  return holdsKeys
    ? ['a log records a key in the query or in a header: leave out option httplog, and %r, %HU and %hr in a log-format']
    : [];
}

/** What is missing for the plugin server to receive reports of APIs' responses on its ANSWERS_LISTEN. */
function checkAnswers(lines: readonly string[]): string[] {
  const problems: string[] = [];
  const sends = lines.some((line) => /^log (?!stdout|stderr|global|ring@)\S+ .*\bformat raw\b/.test(line));
  if (!sends) problems.push('API responses are not reported. Add to global: log 127.0.0.1:9514 format raw local0 info');
  const logFormat = lines.find((line) => line.startsWith('log-format ') && line.includes(ANSWER));
  const member = `"answer":"${ANSWER} ${UNITS}"`;
  if (logFormat === undefined) problems.push(`the plugin server cannot read the log. Add to the log-format: ${member}`);
  else if (!logFormat.includes(`${ANSWER} ${UNITS}`))
    problems.push(`the log-format does not report what a response costs. Add to it: ${member}`);
  const read = lines.findIndex((line) => line.startsWith('http-response set-var(txn.tollgate_units) res.hdr(X-Units,1) '));
  const hidden = lines.findIndex((line) => line === 'http-response del-header X-Units');
  if (read < 0)
    problems.push(
      'the cost of a response is not read. Add to the frontend: http-response set-var(txn.tollgate_units) res.hdr(X-Units,1) if { res.hdr(X-Units,1) -m reg ^[0-9]{1,30}$ }',
    );
  if (hidden < Math.max(read, 0))
    problems.push('callers see the cost that an API reports for its response. Add behind the set-var: http-response del-header X-Units');
  return problems;
}

const ID = 'txn.tollgate_id';
const LIMITS = 'txn.tollgate_ratelimit';
/** Headers that only the gateway may set in a response, even in its own: name, and the variable with the value. */
const SAID: readonly (readonly [name: string, variable: string])[] = [
  ['X-Kong-Request-Id', ID],
  ...OF_LIMITS.filter((name) => name.startsWith('RateLimit')).map((name) => [name, variableOf(name)] as const),
  ...OF_PAGES.map((name) => [name, variableOf(name)] as const),
];

function variableOf(name: string): string {
  return `txn.tollgate_${name
    .toLowerCase()
    .replace(/^access-control-/, '')
    .replaceAll('-', '_')}`;
}

/** What is missing to keep an API from setting the gateway's headers, and to let pages read the gateway's own errors. */
function checkResponses(lines: readonly string[]): string[] {
  const wanted = [
    'http-after-response del-header X-Tollgate-Context',
    ...OF_LIMITS.filter((name) => name.startsWith('X-')).map(
      (name) => `http-after-response del-header ${name} if { var(${LIMITS}) -m found }`,
    ),
    ...SAID.map(([name, variable]) => `http-after-response set-header ${name} %[var(${variable})] if { var(${variable}) -m found }`),
  ];
  return wanted
    .filter((line) => !lines.includes(line))
    .map((line) => `responses carry the gateway’s headers from the API, or not at all. Add to the frontend: ${line}`);
}

/**
 * The dangers of a HAProxy configuration that asks the access layer, and whatever it does not report about responses; empty if there are
 * none.
 * @param text of all files with which HAProxy is started, in order
 * @throws Error if the text is not such a configuration
 */
export function checkHaproxy(text: string): string[] {
  const sections = sectionsOf(text);
  if (!sections.some(({ kind }) => kind === 'frontend' || kind === 'listen')) throw new Error('it is not an HAProxy configuration');
  const backends = sections.filter(({ lines }) => lines.some((line) => line.startsWith('server ')));
  const lines = sections.flatMap((section) => section.lines);
  return [
    ...(backends.length > 0 ? [] : ['nothing asks the access layer: no backend has http-request lua.tollgate']),
    ...backends.flatMap(checkBackend),
    ...(lines.includes(TRAILERS) ? [] : [`the trailers of a request reach the API unchanged. Add to the frontend: ${TRAILERS}`]),
    ...checkLogs(lines),
    ...checkAnswers(lines),
    ...checkResponses(lines),
  ];
}
