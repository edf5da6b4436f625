import { isIP } from 'node:net';
import { join } from 'node:path';
import { Server, ServerCredentials, status, type sendUnaryData, type ServerUnaryCall, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { refusalOf } from '../../access-layer/held-request';
import { EntranceRoutes, keyPlacesOf, type RouteText } from '../../access-layer/entrance-routes';
import { type PluginModule } from '../../core/access/kong-pdk';
import { type AccessInstance, type Verdict } from '../../core/access/verdict';
import {
  collectHeaders,
  createProof,
  decideQuestion,
  type EntranceLog,
  type EntrancePlace,
  requestIdOf,
  type UnreadableQuestion,
} from '../../access-layer/gateway-question';
import { type RequestFacts, splitTarget } from '../../core/access/request-variable';
import { ownNamesOf } from '../../core/key-places';
import { KEY_PARAMETER, looksLikeKey, withoutKey } from '../../core/access/credential-location';
import { resolvePath } from '../../core/access/request-path';

/** Envoy sends the secret as initial metadata. */
export interface ExtAuthzOptions extends EntrancePlace {
  readonly plugin: PluginModule<AccessInstance>;
  readonly log: EntranceLog;
}

/** Relative to the code's folder, before and after compilation. */
const PROTO = join(__dirname, '../../../protos/envoy/v3/external_auth.proto');
const SECRET_METADATA = 'x-tollgate-gateway';
/** Envoy limits the head of a request to 60 KiB, and to at most 8 MiB if raised. */
const MAX_MESSAGE_BYTES = 262_144;

export function loadAuthorization(): ServiceDefinition {
  const found = loadSync(PROTO, { longs: Number, enums: String, defaults: true, oneofs: true })['envoy.service.auth.v3.Authorization'];
  if (!found || 'format' in found) throw new Error('protos/envoy has no Authorization');
  return found;
}

/** Decides on each request for Envoy and gateways built on it: envoy.service.auth.v3.Authorization/Check. */
export class ExtAuthzServer {
  private readonly server = new Server({ 'grpc.max_receive_message_length': MAX_MESSAGE_BYTES });
  private readonly routes: EntranceRoutes;
  private readonly isProved: (given: unknown) => boolean;
  private boundPort = 0;

  constructor(private readonly options: ExtAuthzOptions) {
    this.isProved = createProof(options);
    this.routes = new EntranceRoutes(options.plugin);
    this.server.addService(loadAuthorization(), {
      check: (call: ServerUnaryCall<CheckRequest, CheckResponse>, answer: sendUnaryData<CheckResponse>) => {
        // With failure_mode_allow: false, Envoy refuses on a gRPC error.
        this.check(call, answer).catch(() => answer({ code: status.INTERNAL }));
      },
    });
  }

  listen(): Promise<void> {
    const { listen } = this.options;
    const address = 'path' in listen ? `unix:${listen.path}` : `${listen.host}:${listen.port}`;
    return new Promise((resolve, reject) => {
      this.server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
        if (error) {
          reject(error);
          return;
        }
        this.boundPort = port;
        resolve();
      });
    });
  }

  /** The port, for a server that was given 0. */
  get port(): number {
    return this.boundPort;
  }

  /** Accepts no more questions, and ends once running ones have a response, after `graceMs` at the latest. */
  close({ graceMs }: { graceMs: number }): Promise<void> {
    return new Promise((resolve) => {
      const cut = setTimeout(() => this.server.forceShutdown(), graceMs);
      this.server.tryShutdown(() => {
        clearTimeout(cut);
        resolve();
      });
    });
  }

  /** Every error is a denial, so Envoy never has to choose. */
  private async check(call: ServerUnaryCall<CheckRequest, CheckResponse>, answer: sendUnaryData<CheckResponse>): Promise<void> {
    const requestId = requestIdOf(call.request.attributes?.request?.http?.id);
    const { log, plugin } = this.options;
    const { readOn } = plugin;
    const unavailable = (): void => answer(null, writeCheck(refusalOf('access_layer_unavailable', { requestId, readOn }), { requestId }));
    try {
      const given = call.metadata.get(SECRET_METADATA);
      if (!this.isProved(given.length === 1 ? given[0] : undefined)) {
        log.warn({}, 'a caller that does not prove to be the gateway was refused');
        unavailable();
        return;
      }
      const question = readCheck(call.request, requestId);
      const route = 'fault' in question ? {} : question.route;
      // One JSON text for each route, because Envoy sends its settings with every question.
      const verdict = await decideQuestion(question, { findInstance: () => this.routes.find(JSON.stringify(route), route), log, readOn });
      answer(null, writeCheck(verdict, 'fault' in question ? { requestId } : question));
    } catch (err) {
      log.error({ err, requestId }, 'Envoy’s question could not be answered and was refused');
      unavailable();
    }
  }
}

/** The members that are read of Envoy's message (protos/envoy); absent messages are null. */
interface CheckRequest {
  readonly attributes: {
    readonly source: { readonly address: { readonly socketAddress: { readonly address: string } | null } | null } | null;
    readonly request: { readonly http: HttpAttributes | null } | null;
    readonly contextExtensions: Readonly<Record<string, string>>;
  } | null;
}

interface HttpAttributes {
  readonly id: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  readonly headerMap: { readonly headers: readonly { readonly key: string; readonly value: string; readonly rawValue: Buffer }[] } | null;
}

export interface HeaderValueOption {
  readonly header: { readonly key: string; readonly value: string };
  readonly append: { readonly value: boolean };
}

/** A value of google.protobuf.Struct. */
interface Text {
  readonly stringValue: string;
}

export interface CheckResponse {
  /** google.rpc.Code: 0 lets the request pass, any other number refuses it. */
  readonly status: { readonly code: number; readonly message: string };
  readonly okResponse?: {
    readonly headers: readonly HeaderValueOption[];
    readonly headersToRemove: readonly string[];
    readonly responseHeadersToAdd: readonly HeaderValueOption[];
    readonly queryParametersToRemove: readonly string[];
  };
  readonly deniedResponse?: {
    readonly status: { readonly code: number };
    readonly headers: readonly HeaderValueOption[];
    readonly body: string;
  };
  /** For Envoy's access log: %DYNAMIC_METADATA(envoy.filters.http.ext_authz:request_id)% */
  readonly dynamicMetadata: { readonly fields: Readonly<Record<string, Text>> };
}

/** A request as Envoy describes it, with the route's context_extensions. */
interface CheckedRequest extends RequestFacts {
  readonly route: RouteText;
  /** Query parameters in which the route takes the key. */
  readonly parameters: readonly string[];
}

/** If use_remote_address is on, Envoy sets it from the connection and its trusted hops, and the client cannot. */
const EXTERNAL_ADDRESS = 'x-envoy-external-address';

/** Envoy's pseudo-headers, which are not headers for a service. */
const isPseudo = (name: string): boolean => name.startsWith(':');

function readHeaders({ headers, headerMap }: HttpAttributes): Record<string, string | string[]> {
  const pairs = headerMap
    ? headerMap.headers.map(({ key, value, rawValue }) => [key, rawValue.length > 0 ? rawValue.toString('latin1') : value] as const)
    : Object.entries(headers);
  return collectHeaders(pairs.filter(([name]) => !isPseudo(name)));
}

/** Cached by the text of `key_in`, which Envoy sends with every question. */
const knownParameters = new Map<string, readonly string[]>();
const MAX_KNOWN = 1_024;

/** The query parameters in which a route takes the key. */
function parametersOf(route: RouteText): readonly string[] {
  const { key_in: text = '' } = route;
  const known = knownParameters.get(text);
  if (known) return known;
  const parameters = [KEY_PARAMETER, ...ownNamesOf(keyPlacesOf(route)).parameters];
  if (knownParameters.size < MAX_KNOWN) knownParameters.set(text, parameters);
  return parameters;
}

/** Removes keys in parameters that are spelled out, which Envoy can remove by name. */
const withoutPlain = (query: string, names: readonly string[]): string =>
  query
    .split('&')
    .filter((part) => !names.includes(part.split('=', 1)[0] ?? ''))
    .join('&');

/** Parses Envoy's question. Call it only after Envoy has authenticated. */
function readCheck({ attributes }: CheckRequest, requestId: string): CheckedRequest | UnreadableQuestion {
  const http = attributes?.request?.http;
  const unreadable = (fault: UnreadableQuestion['fault'], why: string): UnreadableQuestion => ({ fault, why, requestId });
  if (!attributes || !http) return unreadable('gateway', 'Envoy must ask about an HTTP request');
  const { caller_address: callerFrom = 'source', ...route } = attributes.contextExtensions;
  const headers = readHeaders(http);
  const reported = callerFrom === 'source' ? attributes.source?.address?.socketAddress?.address : headers[callerFrom];
  if (callerFrom !== 'source' && callerFrom !== EXTERNAL_ADDRESS) {
    return unreadable('gateway', `caller_address is source or ${EXTERNAL_ADDRESS}`);
  }
  if (typeof reported !== 'string' || isIP(reported) === 0) return unreadable('gateway', 'Envoy must tell the caller’s address');
  const { rawPath, rawQuery } = splitTarget(http.path);
  if (resolvePath(rawPath) !== rawPath) return unreadable('path', 'The path has empty, dot or encoded segments.');
  const parameters = parametersOf(route);
  const rest = withoutKey(rawQuery, { headers: [], parameters });
  const they = parameters.join(', ');
  if (withoutPlain(rawQuery, parameters) !== rest)
    return unreadable('client', `The parameter ${they} is percent-encoded: it could not be taken off the request.`);
  if (looksLikeKey(rest))
    return unreadable('client', `The query has an API key in another parameter than ${they}: it could not be taken off the request.`);
  return {
    requestId,
    headers,
    rawQuery,
    rawPath: '',
    method: http.method,
    callerAddress: reported,
    route,
    parameters,
    shown: { method: http.method, rawPath },
  };
}

const toOptions = (headers: Readonly<Record<string, string>>): HeaderValueOption[] =>
  Object.entries(headers).map(([key, value]) => ({ header: { key: key.toLowerCase(), value }, append: { value: false } }));

const OK = 0;
const PERMISSION_DENIED = 7;

/** The verdict as Envoy's response. */
function writeCheck(
  verdict: Verdict,
  { requestId, parameters = [] }: { readonly requestId: string; readonly parameters?: readonly string[] },
): CheckResponse {
  const fields = {
    request_id: { stringValue: requestId },
    outcome: { stringValue: verdict.admitted ? 'admitted' : String(verdict.status) },
  };
  const named = { 'x-kong-request-id': requestId };
  if (!verdict.admitted) {
    const { status, headers, body } = verdict;
    return {
      status: { code: PERMISSION_DENIED, message: '' },
      deniedResponse: { status: { code: status }, headers: toOptions({ ...headers, ...named }), body: body.toString('utf8') },
      dynamicMetadata: { fields },
    };
  }
  const set = toOptions({ ...verdict.set, ...named });
  const isSet = new Set(set.map(({ header }) => header.key));
  return {
    status: { code: OK, message: '' },
    okResponse: {
      headers: set,
      headersToRemove: verdict.remove.filter((name) => !isSet.has(name)),
      responseHeadersToAdd: toOptions({ ...verdict.responseHeaders, ...named }),
      queryParametersToRemove: parameters,
    },
    dynamicMetadata: { fields },
  };
}
