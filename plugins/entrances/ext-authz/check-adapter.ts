import { isIP } from 'node:net';
import { type RequestFacts } from '../../core/access/request-variable';
import { type Verdict } from '../../core/access/verdict';
import { keyPlacesOf, type RouteText } from '../../access-layer/entrance-routes';
import { ownNamesOf } from '../../core/key-places';
import { KEY_PARAMETER, looksLikeKey, withoutKey } from '../../core/access/credential-location';
import { resolvePath } from '../../core/access/request-path';
import { splitTarget } from '../../core/access/request-variable';
import { collectHeaders, type UnreadableQuestion } from '../../access-layer/gateway-question';
import { type CheckRequest, type CheckResponse, type HeaderValueOption, type HttpAttributes } from './check-messages';

/** A request as Envoy describes it, with the route's context_extensions. */
export interface CheckedRequest extends RequestFacts {
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
export function readCheck({ attributes }: CheckRequest, requestId: string): CheckedRequest | UnreadableQuestion {
  const http = attributes?.request?.http;
  const unreadable = (fault: UnreadableQuestion['fault'], why: string): UnreadableQuestion => ({ fault, why, requestId });
  if (!attributes || !http) return unreadable('gateway', 'Envoy must ask about an HTTP request');
  const { caller_address: callerFrom = 'source', ...route } = attributes.contextExtensions;
  const headers = readHeaders(http);
  const told = callerFrom === 'source' ? attributes.source?.address?.socketAddress?.address : headers[callerFrom];
  if (callerFrom !== 'source' && callerFrom !== EXTERNAL_ADDRESS) {
    return unreadable('gateway', `caller_address is source or ${EXTERNAL_ADDRESS}`);
  }
  if (typeof told !== 'string' || isIP(told) === 0) return unreadable('gateway', 'Envoy must tell the caller’s address');
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
    callerAddress: told,
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
export function writeCheck(
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
