import { type RequestHeaders } from './credential-location';
import { type Verdict } from './verdict';

/** gRPC statuses by HTTP status: InvalidArgument, Unauthenticated, ResourceExhausted, Unavailable. */
const STATUSES: Readonly<Record<number, number>> = { 400: 3, 401: 16, 429: 8, 503: 14 };
const UNKNOWN = 2;

/** Not gRPC-Web, which is plain HTTP. */
const isGrpc = ({ 'content-type': type }: RequestHeaders): boolean =>
  typeof type === 'string' && /^application\/grpc(?:[+;]|$)/i.test(type);

/** A gRPC message may hold only visible ASCII and spaces. */
const asMessage = (text: string): string => text.replace(/[^ -$&-~]/gu, encodeURIComponent);

/**
 * The verdict in the form that the caller can read. A gRPC client reads a refusal in the head of a response with status 200. It turns any
 * other HTTP status into one of its own, without the code, and reads 429 as a server that is down, so it would retry at once.
 * @param headers of the request
 */
export function forCaller(verdict: Verdict, headers: RequestHeaders): Verdict {
  if (verdict.admitted || verdict.status < 400 || !isGrpc(headers)) return verdict;
  const { code, detail } = JSON.parse(verdict.body.toString()) as { readonly code: string; readonly detail: string };
  return {
    admitted: false,
    status: 200,
    headers: {
      ...verdict.headers,
      'Content-Type': 'application/grpc',
      'grpc-status': String(STATUSES[verdict.status] ?? UNKNOWN),
      'grpc-message': asMessage(`${code}: ${detail}`),
    },
    body: Buffer.alloc(0),
  };
}
