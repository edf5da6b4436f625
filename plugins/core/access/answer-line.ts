/** What a gateway reports of one response. */
export interface AnswerLine {
  readonly requestId: string;
  readonly status: number;
  /** Time from the first byte of the request at the gateway to the last byte of the response. */
  readonly elapsedMs: number;
  /** Bytes of the response's body. */
  readonly bytes: number;
  /** False if the gateway responded itself, because it could not reach the API or the API did not respond in time. */
  readonly isFromApi: boolean;
  /** The first value of the API's header `X-Units`, as sent. Absent: the API sent none, or the gateway does not report it. */
  readonly units?: string;
}

/** Precedes the line in a datagram, after the head of a syslog message. */
const TAG = 'tg: ';
const MAX_HEAD = 64;
/** Caddy includes response headers. */
const MAX_DATAGRAM = 16_384;
/** HAProxy's line is a JSON member, and some lines end with a line feed. */
const LINE_END = /["\n]/;

/** The line in a datagram of a gateway's access log; undefined for anything else. */
export function answerLineIn(datagram: Buffer): string | undefined {
  if (datagram.length > MAX_DATAGRAM) return undefined;
  const text = datagram.toString('latin1');
  const at = text.indexOf(TAG);
  if (at < 0 || at > MAX_HEAD) return text.startsWith('{') ? lineOfCaddy(text) : undefined;
  const line = text.slice(at + TAG.length);
  const end = line.search(LINE_END);
  return end < 0 ? line : line.slice(0, end);
}

/** Members of a line of Caddy's access log, which is JSON. */
interface CaddyLine {
  readonly status?: unknown;
  /** Seconds. */
  readonly duration?: unknown;
  readonly size?: unknown;
  /** `units=` and the value of X-Units: Caddy 2.6 has no other member that a route can set. */
  readonly user_id?: unknown;
  readonly resp_headers?: { readonly 'X-Kong-Request-Id'?: readonly unknown[]; readonly Date?: unknown };
}

/** Caddy reports 0 if the client left first. This is nginx's number. */
const CLIENT_LEFT = 499;

/** Caddy logs no Date of its own responses, because Go adds that as it writes. Responses of an API have one. */
function lineOfCaddy(text: string): string | undefined {
  try {
    const { status, duration, size, user_id: user, resp_headers: headers = {} } = JSON.parse(text) as CaddyLine;
    const seconds = Number(duration).toFixed(3);
    const head = headers.Date === undefined ? '-' : seconds;
    const units = typeof user === 'string' && user.startsWith('units=') ? ` ${user}` : '';
    return `${String(headers['X-Kong-Request-Id']?.[0])} ${String(status === 0 ? CLIENT_LEFT : status)} ${seconds} ${String(size)} ${head}${units}`;
  } catch {
    return undefined;
  }
}

/** The first member. It shows that a line belongs to somebody else, without reading the rest. */
export function requestIdOfLine(line: string): string {
  return line.slice(0, line.indexOf(' '));
}

/** If an API sends something that is not HTTP, a gateway may report its first digits as the status: nginx reads it as HTTP/0.9. */
const MIN_STATUS = 100;
const NOT_HTTP = 502;

const LINE = /^([\w-]{8,64}) (\d{3}) (\d{1,7}(?:\.\d{3})?) (\d{1,15}) ([\d.:, -]{1,200}?)(?: units=(.*))?$/;

/**
 * `<request id> <status> <time> <bytes> <time of the API's head>[ units=<X-Units>]`. A time with a point is in seconds, as in nginx; a time
 * without one is in milliseconds, as in HAProxy. The fifth member has a time for each attempt, and `-` (`-1`) for an attempt without a
 * response head; the last one counts. `-` means no units.
 * @returns undefined for a line that is not of this form
 */
export function parseAnswerLine(line: string): AnswerLine | undefined {
  const [, requestId, status, time = '', bytes, heads = '', units = '-'] = LINE.exec(line) ?? [];
  if (requestId === undefined) return undefined;
  const last = heads.split(/[,:]/).at(-1)?.trim() ?? '';
  return {
    requestId,
    status: Number(status) < MIN_STATUS ? NOT_HTTP : Number(status),
    elapsedMs: time.includes('.') ? Math.round(Number(time) * 1_000) : Number(time),
    bytes: Number(bytes),
    isFromApi: last !== '' && !last.startsWith('-'),
    // Before 1.23 nginx reports the first of a repeated header, later all of them.
    ...(units !== '-' && { units: units.split(',', 1)[0] ?? '' }),
  };
}
