import { type KongPdk } from '../../plugins/core/access/kong-pdk';
import { REQUEST_TEXT, REQUEST_VARIABLE } from '../../plugins/core/access/request-variable';
import { type Decision, type QuotaCounter, type SpendResult } from '../../plugins/core/ports';
import { createAccessLayer } from '../../plugins/access-layer/plugin';
import { type AccessLayerDeps } from '../../plugins/access-layer/access-request';
import { decideSpend, windowsAt } from '../../plugins/core/access/quota';

/** One request as Kong would describe it. */
export interface FakeRequest {
  headers?: Record<string, string | string[]>;
  query?: string;
  /** `/ip` unless given. */
  path?: string;
  address?: string;
  /** A promise is a body that is still on its way. */
  body?: Buffer | { filePath: string } | Promise<Buffer>;
  requestId?: unknown;
  /** GET unless given. */
  method?: string;
  /** A Kong whose kong.conf sets no variable for the access layer has four calls for it. */
  withoutVariable?: boolean;
}

const targetOf = ({ path = '/ip', query = '' }: FakeRequest): string => (query === '' ? path : `${path}?${query}`);

/** As nginx fills the variable that kong.conf sets. */
export function requestVariable(request: FakeRequest): string {
  const { headers = {}, query = '', address = '203.0.113.7', requestId = 'req-1', method = 'GET', withoutVariable } = request;
  if (withoutVariable === true) return '';
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each) => [name.replaceAll('-', '_'), each] as const),
  );
  const values: Record<string, string> = {
    remote_addr: address,
    kong_request_id: String(requestId),
    request_length: String(lines.reduce((bytes, [name, value]) => bytes + name.length + value.length + 4, 20 + query.length)),
    request_method: method,
    request_uri: targetOf(request),
  };
  for (const [name, value] of lines) {
    const known = values[`http_${name}`];
    values[`http_${name}`] = known === undefined ? value : `${known}, ${value}`;
  }
  return REQUEST_TEXT.replaceAll('\\n', '\n').replace(/\$(\w+)/g, (_, name: string) => values[name] ?? '');
}

function variableOf(request: FakeRequest, name: string): unknown {
  if (name === REQUEST_VARIABLE) return requestVariable(request);
  if (name === 'request_method') return request.method ?? 'GET';
  if (name === 'request_uri') return targetOf(request);
  const header = /^http_(.*)$/.exec(name)?.[1]?.replaceAll('_', '-');
  if (header !== undefined) return [request.headers?.[header] ?? ''].flat().join(', ');
  return 'requestId' in request ? request.requestId : 'req-1';
}

/** What the plugin asked of Kong, in order, and what became of the request. */
export interface FakeOutcome {
  calls: string[];
  exit: { status: number; headers: Record<string, string>; body: Record<string, unknown> } | undefined;
  set: Record<string, string | string[]>;
  cleared: string[];
  query: string | undefined;
  body: Buffer | undefined;
  responseHeaders: Record<string, string | string[]>;
  /** `host:port` in place of the service. */
  target?: string;
  /** Kong's authenticated consumer and credential. */
  client?: object;
}

/** Runs one event of a plugin instance against a Kong that lives in memory. */
export async function runEvent(instance: { access(kong: KongPdk): Promise<void> }, request: FakeRequest): Promise<FakeOutcome> {
  const outcome: FakeOutcome = { calls: [], exit: undefined, set: {}, cleared: [], query: undefined, body: undefined, responseHeaders: {} };
  const call = <T>(name: string, value: T): Promise<T> => {
    outcome.calls.push(name);
    return Promise.resolve(value);
  };
  const done = (name: string, _changed?: unknown): Promise<null> => call(name, null);
  const kong: KongPdk = {
    request: {
      getHeaders: () => call('get_headers', request.headers ?? {}),
      getRawQuery: () => call('get_raw_query', request.query ?? ''),
      getRawBody: async () => {
        const body = await call('get_raw_body', request.body);
        if (!body) throw new Error('this request has no body');
        return 'filePath' in body ? body : { content: body };
      },
    },
    client: {
      getForwardedIp: () => call('get_forwarded_ip', request.address ?? '203.0.113.7'),
      authenticate: (consumer, credential) => done('authenticate', (outcome.client = { consumer, credential })),
    },
    nginx: {
      getVar: (name) => call('get_var', variableOf(request, name) as string),
    },
    service: {
      setTarget: (host, port) => done('set_target', (outcome.target = `${host}:${port}`)),
      request: {
        setHeaders: (headers: FakeOutcome['set']) => {
          for (const [name, value] of Object.entries(headers)) {
            if (value.length === 0) outcome.cleared.push(name);
            else outcome.set[name] = value;
          }
          return done('set_headers');
        },
        clearHeader: (name) => done('clear_header', outcome.cleared.push(name)),
        setRawQuery: (query) => done('set_raw_query', (outcome.query = query)),
        setRawBody: (body) => done('set_raw_body', (outcome.body = Buffer.from(body as Buffer))),
      },
    },
    response: {
      setHeaders: (headers) => done('response.set_headers', Object.assign(outcome.responseHeaders, headers)),
      exit: (status, body, headers) =>
        done(
          'exit',
          (outcome.exit = {
            status,
            headers: (headers ?? {}) as Record<string, string>,
            body: (body?.length ? JSON.parse(String(body)) : {}) as Record<string, unknown>,
          }),
        ),
    },
  };
  await instance.access(kong);
  return outcome;
}

/** Noon in Kolkata on 20 November 2026. */
export const NOW_MS = Date.parse('2026-11-20T06:30:00Z');

/** A counter in memory with the rules of the real ones. */
export function memoryQuota(): QuotaCounter & { used: Map<string, number> } {
  const used = new Map<string, number>();
  const windows = windowsAt(NOW_MS / 1000, 'Asia/Kolkata');
  const standing = (id: string): SpendResult['standing'] => ({ ...windows, usedDaily: used.get(id) ?? 0, usedMonthly: used.get(id) ?? 0 });
  return {
    used,
    spend: ({ subscriptionId, limits, units = 1 }) => {
      const { granted, exceeded } = decideSpend(standing(subscriptionId), limits, units);
      if (granted === units) used.set(subscriptionId, (used.get(subscriptionId) ?? 0) + units);
      return Promise.resolve({ granted: granted === units, exceeded, standing: standing(subscriptionId) });
    },
    refund: () => Promise.resolve('refunded'),
    settle: () => Promise.resolve('settled'),
    readStanding: (id) => Promise.resolve(standing(id)),
  };
}

/** Builds an instance of the real plugin over the given stores. */
export function createInstance(
  config: Record<string, unknown>,
  deps: Pick<AccessLayerDeps, 'records' | 'quota' | 'signContext'> & Partial<AccessLayerDeps>,
): { instance: { access(kong: KongPdk): Promise<void> }; decisions: Decision[] } {
  const decisions: Decision[] = [];
  const plugin = createAccessLayer({
    decisions: { record: (decision) => decisions.push(decision) },
    clock: { now: () => NOW_MS, monotonic: () => 0 },
    readBodyFile: () => Promise.reject(new Error('no file')),
    log: { error: () => undefined, warn: () => undefined },
    ...deps,
  });
  return { instance: new plugin.Plugin(config), decisions };
}
