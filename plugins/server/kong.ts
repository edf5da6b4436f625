import { type KongPdk, type RawBody } from '../core/access/kong-pdk';
import { REQUEST_VARIABLE, requestIdIn } from '../core/access/request-variable';
import { type EventExchange } from './event-exchange';
import { encodeFrames } from './wire/frames';
import {
  decodeRawBodyResult,
  decodeString,
  encodeInt,
  encodeString,
  writeAuthenticate,
  writeExitArgs,
  type ExitArgs,
} from './wire/pdk-messages';
import { decodeStruct, type ProtoStruct, writeStruct } from './wire/struct-codec';
import { type Writer } from './wire/wire-writer';

type HeaderValues = Record<string, string | string[]>;

/** Kong's own limit for get_headers, and the number to request. Kong drops further headers. */
const maxHeaders = 1000;
const nothing = Buffer.alloc(0);

/** A call ready to send: method name and argument, each in its frame. */
function call(method: string, argument: Buffer): Buffer {
  return encodeFrames([Buffer.from(method), argument]);
}

const getAllHeaders = call('kong.request.get_headers', encodeInt(maxHeaders));
const getRawQuery = call('kong.request.get_raw_query', nothing);
const getRawBody = call('kong.request.get_raw_body', nothing);
const getForwardedIp = call('kong.client.get_forwarded_ip', nothing);

const name = (method: string): Buffer => encodeFrames([Buffer.from(method)]);
const authenticateClient = name('kong.client.authenticate');
const setServiceHeaders = name('kong.service.request.set_headers');
const clearServiceHeader = name('kong.service.request.clear_header');
const setServiceRawQuery = name('kong.service.request.set_raw_query');
const setServiceRawBody = name('kong.service.request.set_raw_body');
const setServiceScheme = name('kong.service.request.set_scheme');
const setServiceTarget = name('kong.service.set_target');
const setResponseHeaders = name('kong.response.set_headers');
const exitName = name('kong.response.exit');

// Written even when empty: Kong's decoder makes an absent string nil, and a nil argument ends the request with 500.
const writeString = (to: Writer, value: string): void => to.string(1, value);
const writeBytes = (to: Writer, value: Uint8Array): void => to.bytes(1, value);

function writeTarget(to: Writer, { host, port }: { host: string; port: number }): void {
  to.string(1, host);
  to.int(2, port);
}

function readRawBody(bytes: Buffer, start: number, end: number): RawBody {
  const result = decodeRawBodyResult(bytes, start, end);
  if ('error' in result) throw new Error(`Kong could not read the request body: ${result.error}`);
  return result;
}

/** Frames of get_var by variable. Plugins read the same few variables, so nothing is added to a full table. */
const getVarCalls = new Map<string, Buffer>();
const maxGetVarCalls = 64;

function getVar(variable: string): Buffer {
  const known = getVarCalls.get(variable);
  if (known) return known;
  const frames = call('kong.nginx.get_var', encodeString(variable));
  if (getVarCalls.size < maxGetVarCalls) getVarCalls.set(variable, frames);
  return frames;
}

class Request {
  constructor(private readonly exchange: EventExchange) {}

  getHeaders(max = maxHeaders): Promise<ProtoStruct> {
    if (max === maxHeaders) return this.exchange.read(getAllHeaders, decodeStruct);
    if (!Number.isInteger(max) || max < 1 || max > maxHeaders) throw new RangeError(`maxHeaders must be 1 to ${maxHeaders}`);
    return this.exchange.read(call('kong.request.get_headers', encodeInt(max)), decodeStruct);
  }

  getRawQuery(): Promise<string> {
    return this.exchange.read(getRawQuery, decodeString);
  }

  getRawBody(): Promise<RawBody> {
    return this.exchange.read(getRawBody, readRawBody, true);
  }
}

class Client {
  constructor(private readonly exchange: EventExchange) {}

  /** For the plugins that run afterwards. */
  authenticate({ id, username }: { id: string; username: string }, credential: { id: string }): Promise<null> {
    return this.exchange.write(authenticateClient, { consumerId: id, username, credentialId: credential.id }, writeAuthenticate);
  }

  getForwardedIp(): Promise<string> {
    return this.exchange.read(getForwardedIp, decodeString);
  }
}

/** Variables that hold the request's id, for the log. */
const idIn = new Map<string, (value: string) => string>([
  ['kong_request_id', (value) => value],
  [REQUEST_VARIABLE, requestIdIn],
]);

class Nginx {
  constructor(private readonly exchange: EventExchange) {}

  /** An unknown or unset variable reads as the empty string. */
  getVar(variable: string): Promise<string> {
    const readId = idIn.get(variable);
    if (!readId) return this.exchange.read(getVar(variable), decodeString);
    return this.exchange.read(getVar(variable), (bytes, start, end) => {
      const value = decodeString(bytes, start, end);
      this.exchange.requestId = readId(value) || undefined;
      return value;
    });
  }
}

class ServiceRequest {
  constructor(private readonly exchange: EventExchange) {}

  setHeaders(headers: HeaderValues): Promise<null> {
    return this.exchange.write(setServiceHeaders, headers, writeStruct);
  }

  clearHeader(header: string): Promise<null> {
    return this.exchange.write(clearServiceHeader, header, writeString);
  }

  setRawQuery(query: string): Promise<null> {
    return this.exchange.write(setServiceRawQuery, query, writeString);
  }

  /** Sends text as UTF-8. Give bytes for a body that may not be text, because a string cannot hold them. */
  setRawBody(body: string | Uint8Array): Promise<null> {
    return this.exchange.write(setServiceRawBody, typeof body === 'string' ? Buffer.from(body) : body, writeBytes);
  }
}

class Service {
  readonly request: ServiceRequest;

  constructor(private readonly exchange: EventExchange) {
    this.request = new ServiceRequest(exchange);
  }

  /** Uses plain HTTP, even if the service itself is https. Kong would keep its scheme otherwise. */
  setTarget(host: string, port: number): Promise<null> {
    void this.exchange.write(setServiceScheme, 'http', writeString);
    return this.exchange.write(setServiceTarget, { host, port }, writeTarget);
  }
}

class Response {
  constructor(private readonly exchange: EventExchange) {}

  setHeaders(headers: HeaderValues): Promise<null> {
    return this.exchange.write(setResponseHeaders, headers, writeStruct);
  }

  exit(status: number, body?: Buffer, headers?: HeaderValues): Promise<null> {
    if (!Number.isInteger(status) || status < 100 || status > 599) throw new RangeError('status must be 100 to 599');
    const args: ExitArgs = { status };
    if (body !== undefined) args.body = body;
    if (headers !== undefined) args.headers = headers;
    return this.exchange.exit(exitName, args, writeExitArgs);
  }
}

/** The PDK object of one event; the calls go through `exchange`, which ends with the event. */
export function createKong(exchange: EventExchange): KongPdk {
  return {
    request: new Request(exchange),
    client: new Client(exchange),
    nginx: new Nginx(exchange),
    service: new Service(exchange),
    response: new Response(exchange),
  };
}
