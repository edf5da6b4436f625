import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sendRaw } from '../support/gateway/raw-http';
import { openInstallation, type IssuedKey } from './installation';
import { useOpened } from '../support/opened';

interface Answer {
  readonly interim: readonly string[];
  readonly status: string;
  readonly headers: readonly string[];
  readonly body: string;
}

interface RecordedExchange {
  readonly name: string;
  /** base64. */
  readonly request: string;
  readonly answer: Answer;
}

const { key: STAND_IN, exchanges } = JSON.parse(
  readFileSync(join(__dirname, '..', 'fixtures', 'kong-traces', 'raw-http.json'), 'utf8'),
) as { key: string; exchanges: readonly RecordedExchange[] };

/**
 * What the local gateway does not copy: it reads requests with Node's HTTP parser, which refuses what nginx lets pass. Each of these ends
 * in a refusal there, never in a request that is read in another way than the service reads it.
 */
const NOT_COPIED: Readonly<Record<string, string>> = {
  weird: 'Node knows the registered methods only and refuses others itself; behind Kong the service, which is Node too, does',
  'http1.2': 'Node reads 1.0 and 1.1',
  http09: 'Node reads no request without a version: it waits for the rest of a head and then closes the connection',
  'hdr nocolon': 'nginx skips a line without a colon, Node refuses the request',
  'hdr ctl': 'Node refuses a control character itself; behind Kong the service, which is Node too, does',
  'hdr weird name': 'nginx skips a name with other characters than RFC 9110 allows, Node refuses the request',
  'lf only': 'Node wants CRLF at the end of each line',
  utf8: 'Node refuses a byte over 127 in a path; no route of Kong takes one',
};

/** Cases in which our own plugin has decided otherwise since the recording, with what it answers now. */
const DECIDED_SINCE: Readonly<Record<string, { status: string; code: string }>> = {
  // A body of unknown length is not searched for a key: a stranger's would have to be kept whole.
  'chunked form': { status: 'HTTP/1.1 401 Unauthorized', code: 'key_missing' },
  // Kong takes headers that one `Connection` names off the request: the proof would be gone.
  'conn hop': { status: 'HTTP/1.1 400 Bad Request', code: 'request_not_readable' },
};

/** Answers of a product that says more since the recording: what it was asked about is compared, and all that the gateway adds. */
const SAYS_MORE_SINCE = ['echo ip', 'ip no arg', 'ip xreal'];

const tollgate = useOpened(openInstallation);
let issued: IssuedKey;

beforeAll(async () => {
  issued = await tollgate.createKey({ products: ['api-vahaan', 'api-ip', 'api-gst'], mode: 'test' });
  const ip = issued.subscriptions.find(({ product }) => product === 'api-ip');
  // The limits of the subscription that was recorded.
  if (ip) await tollgate.subscriptions.change(ip.id, { daily: 2_000_000_000, monthly: 2_000_000_000 });
});

const VARYING = /^(Date|Content-Length|ratelimit|X-Kong-[A-Za-z]+-Latency|X-Kong-Request-Id): .*$/;

/** An answer to HTTP/0.9 is a body and nothing else. */
const hasHead = (answer: string): boolean => answer.startsWith('HTTP/');

function readAnswer(text: string): Answer {
  if (!hasHead(text)) return { interim: [], status: '', headers: [], body: maskBody('', text) };
  const interim: string[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const [status = '', ...headers] = (end < 0 ? rest : rest.slice(0, end)).split('\r\n');
    const body = end < 0 ? '' : rest.slice(end + 4);
    if (/^HTTP\/1\.1 10[0-3] /.test(status) && !status.includes(' 101 ')) {
      interim.push(status);
      rest = body;
      continue;
    }
    return { interim, status, headers: headers.map((line) => line.replace(VARYING, '$1: *')), body: maskBody(status, body) };
  }
}

/** The frames after a 101 are the service's own. The recorded installation had no dashboard to which a refusal could lead. */
function maskBody(status: string, body: string): string {
  if (status.includes(' 101 ')) return '';
  return Buffer.from(body, 'latin1')
    .toString('utf8')
    .replace(/"type":( ?)"[^"]*\/reference\/errors#\w+"/, '"type":$1"about:blank"')
    .replace(/,\s*"help": ?"[^"]*\/explain(\?request=\w+)?"/, '')
    .replace(/[0-9a-f]{32}/g, '<request id>')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '<time>');
}

function askedAbout(body: string): unknown {
  const { ip, is_valid, version } = JSON.parse(body) as Record<string, unknown>;
  return { ip, is_valid, version };
}

/** The recording cuts every answer at its first line, one without a head too. */
function recordedAnswer({ answer }: RecordedExchange): Answer {
  const { interim, status, headers, body } = answer;
  return hasHead(status) ? { interim, status, headers, body: maskBody(status, body) } : readAnswer(status + body);
}

async function replay({ request }: RecordedExchange): Promise<Answer> {
  const bytes = Buffer.from(request, 'base64').toString('latin1').replaceAll(STAND_IN, issued.key);
  return readAnswer(await sendRaw(tollgate.gatewayUrl, Buffer.from(bytes, 'latin1')));
}

const isLocal = process.env.GATEWAY_URL === undefined;
/** Kong sends the headers of a refusal in the order of a table of Lua, which differs from one process to the next. */
const inAnyOrder = (answer: Omit<Answer, 'body'>): Omit<Answer, 'body'> =>
  isLocal ? answer : { ...answer, headers: [...answer.headers].sort() };
const copied = exchanges.filter(({ name }) => !(isLocal && name in NOT_COPIED) && !(name in DECIDED_SINCE));

it('all 130 recorded requests are looked at, and at most 8 of them are not copied', () => {
  const names = exchanges.map(({ name }) => name);
  expect(new Set(names).size).toBe(130);
  expect(Object.keys(NOT_COPIED).length).toBeLessThanOrEqual(8);
  expect(names).toEqual(expect.arrayContaining([...Object.keys(NOT_COPIED), ...Object.keys(DECIDED_SINCE)]));
});

describe('a raw request is answered as Kong 3.9.3 answers it', () => {
  it.each(copied.map((exchange) => [exchange.name, exchange] as const))('%s', async (_name, exchange) => {
    const { body, ...answer } = await replay(exchange);
    const { body: recorded, ...head } = recordedAnswer(exchange);
    expect(inAnyOrder(answer)).toEqual(inAnyOrder(head));
    if (SAYS_MORE_SINCE.includes(exchange.name)) expect(askedAbout(body)).toEqual(askedAbout(recorded));
    else expect(body).toBe(recorded);
  });
});

const refused = exchanges.filter(({ name }) => name in NOT_COPIED && name !== 'http09');

it.each(refused)('refuses, where it does not copy Kong: $name', async (exchange) => {
  const { status, body } = await replay(exchange);
  if (isLocal) expect([status, JSON.parse(body)]).toEqual(['HTTP/1.1 400 Bad Request', expect.objectContaining({ code: 'gateway_error' })]);
});

it.each(Object.entries(DECIDED_SINCE))('is decided by today’s plugin: %s', async (name, { status, code }) => {
  const exchange = exchanges.find((each) => each.name === name);
  if (!exchange) throw new Error(`no such recording: ${name}`);
  const answer = await replay(exchange);
  expect([answer.status, JSON.parse(answer.body)]).toEqual([status, expect.objectContaining({ code })]);
});
