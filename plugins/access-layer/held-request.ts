import { randomBytes } from 'node:crypto';
import { CONTEXT_HEADER } from '../core/proof/context-token';
import { type RequestHeaders } from '../core/access/credential-location';
import { type KongPdk } from '../core/access/kong-pdk';
import { problemOf, statusOf } from '../core/problems';

/** A request that an entrance other than Kong's holds in full, so nothing has to be asked for. */
export interface HeldRequest {
  readonly requestId: string;
  /** Lower-cased names; a repeated header has a list, so that repetition can be judged. */
  readonly headers: RequestHeaders;
  /** Without `?`, undecoded. */
  readonly rawQuery: string;
  /** Empty if the entrance cannot answer a preflight, which is then refused like any request without a key. */
  readonly method: string;
  /** As the gateway determined it. */
  readonly callerAddress: string;
}

/** The request goes on, changed like this. */
export interface Admission {
  readonly admitted: true;
  /** Headers for the service, the proof among them. */
  readonly set: Readonly<Record<string, string>>;
  /** Lower-cased names of headers that the service must not see. */
  readonly remove: readonly string[];
  /** For the service, without the key. */
  readonly rawQuery: string;
  /** For the answer to the caller. */
  readonly responseHeaders: Readonly<Record<string, string>>;
}

/**
 * The answer to the caller; nothing reaches the service. The answer to a preflight has status 200, and an entrance must not treat it as an
 * admission.
 */
export interface Refusal {
  readonly admitted: false;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type Verdict = Admission | Refusal;

/** One configuration of the access layer, as Kong's plugin server also runs it. */
export interface AccessInstance {
  access(kong: KongPdk): Promise<void>;
}

/** As for Kong's events: far longer than any decision takes, shorter than gateways wait. */
const DECISION_DEADLINE_MS = 5_000;

/** 32 hex digits, as Kong's. */
export const newRequestId = (): string => randomBytes(16).toString('hex');

/** The refusal of one code that needs no decision. */
export function refusalOf(
  code: 'access_layer_unavailable' | 'request_not_readable' | 'ambiguous_path',
  { requestId, detail }: { readonly requestId: string; readonly detail?: string },
): Refusal {
  const status = statusOf(code);
  const headers: Record<string, string> = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' };
  if (status === 503) headers['Retry-After'] = '1';
  const problem = problemOf(code, { requestId, ...(detail === undefined ? {} : { detail }) });
  return { admitted: false, status, headers, body: Buffer.from(JSON.stringify(problem)) };
}

type HeaderValues = Record<string, string | string[]>;

const single = (value: string | string[]): string => (typeof value === 'string' ? value : value.join(', '));

/** Collects the changes that Kong would make to a request. */
class HeldPdk implements KongPdk {
  private readonly set: Record<string, string> = {};
  private readonly remove: string[] = [];
  private readonly responseHeaders: Record<string, string> = {};
  private newQuery: string | undefined;
  private refusal: Refusal | undefined;

  constructor(private readonly held: HeldRequest) {}

  readonly request: KongPdk['request'] = {
    getHeaders: () => Promise.resolve(this.held.headers),
    getRawQuery: () => Promise.resolve(this.held.rawQuery),
    getRawBody: () => Promise.reject(new Error('this entrance is given no bodies')),
  };

  readonly client: KongPdk['client'] = { getForwardedIp: () => Promise.resolve(this.held.callerAddress) };

  readonly nginx: KongPdk['nginx'] = {
    getVar: (name) => {
      if (name === 'kong_request_id') return Promise.resolve(this.held.requestId);
      return Promise.resolve(name === 'request_method' ? this.held.method : '');
    },
  };

  readonly service: KongPdk['service'] = {
    setTarget: () => Promise.reject(new Error('this entrance cannot send a request elsewhere')),
    request: {
      setHeaders: (headers: HeaderValues) => {
        for (const [name, value] of Object.entries(headers)) {
          if (value.length === 0) this.remove.push(name.toLowerCase());
          else this.set[name] = single(value);
        }
        return Promise.resolve(null);
      },
      clearHeader: (name) => {
        this.remove.push(name.toLowerCase());
        return Promise.resolve(null);
      },
      setRawQuery: (query) => {
        this.newQuery = query;
        return Promise.resolve(null);
      },
      setRawBody: () => Promise.reject(new Error('this entrance cannot change bodies')),
    },
  };

  readonly response: KongPdk['response'] = {
    setHeaders: (headers: HeaderValues) => {
      for (const [name, value] of Object.entries(headers)) this.responseHeaders[name] = single(value);
      return Promise.resolve(null);
    },
    exit: (status, body = Buffer.alloc(0), headers: HeaderValues = {}) => {
      const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, single(value)]));
      this.refusal = { admitted: false, status, headers: plain, body };
      return Promise.resolve(null);
    },
  };

  /** @throws Error when the access layer neither admitted nor refused; the request is then refused */
  verdict(): Verdict {
    if (this.refusal) return this.refusal;
    if (this.set[CONTEXT_HEADER] === undefined) throw new Error('a request was neither refused nor given its proof');
    const { set, remove, responseHeaders } = this;
    return { admitted: true, set, remove, rawQuery: this.newQuery ?? this.held.rawQuery, responseHeaders };
  }
}

/**
 * Asks the access layer about a request. Every error and every time-out refuses the request.
 * @param onError gets the error; the caller of the API never sees it
 */
export async function askAccess(instance: AccessInstance, held: HeldRequest, onError: (error: unknown) => void): Promise<Verdict> {
  const pdk = new HeldPdk(held);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error('the decision took too long')), DECISION_DEADLINE_MS);
  });
  try {
    await Promise.race([instance.access(pdk), late]);
    return pdk.verdict();
  } catch (error) {
    onError(error);
    return refusalOf('access_layer_unavailable', held);
  } finally {
    clearTimeout(timer);
  }
}
