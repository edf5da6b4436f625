import { credentials, Metadata, ServerCredentials, type ChannelCredentials } from '@grpc/grpc-js';
import { type KeyMode } from '../../../plugins/core/ports';
import { type MutualTls } from '../mutual-tls';
import { TRACE_HEADER } from '../../../plugins/core/proof/trace-context';

/** What a worker knows about its caller. */
export interface WorkerCaller {
  readonly requestId: string;
  readonly customerId: string;
  /** Sessions are bound to this subscription. */
  readonly subscriptionId: string;
  /** `test` calls go to the sandbox upstreams. */
  readonly mode: KeyMode;
}

const KEYS = { requestId: 'x-request-id', customerId: 'x-customer-id', subscriptionId: 'x-subscription-id', mode: 'x-mode' } as const;

/** @param traceparent of the span that the call belongs to */
export function metadataOf(caller: WorkerCaller, traceparent?: string): Metadata {
  const metadata = new Metadata();
  metadata.set(KEYS.requestId, caller.requestId);
  metadata.set(KEYS.customerId, caller.customerId);
  metadata.set(KEYS.subscriptionId, caller.subscriptionId);
  metadata.set(KEYS.mode, caller.mode);
  if (traceparent !== undefined) metadata.set(TRACE_HEADER, traceparent);
  return metadata;
}

/** Reads the caller. Absent members are empty. A call without a mode is a test call, so that it cannot spend money at a live upstream. */
export function callerOf(metadata: Metadata): WorkerCaller {
  const read = (key: string): string => String(metadata.get(key)[0] ?? '');
  return {
    requestId: read(KEYS.requestId),
    customerId: read(KEYS.customerId),
    subscriptionId: read(KEYS.subscriptionId),
    mode: read(KEYS.mode) === 'live' ? 'live' : 'test',
  };
}

export function traceparentOf(metadata: Metadata): unknown {
  return metadata.get(TRACE_HEADER)[0];
}

/** Without `tls` the connection is plain, for workers on the same machine or a private network. */
export function clientCredentials(tls: MutualTls | undefined): ChannelCredentials {
  return tls ? credentials.createSsl(tls.ca, tls.key, tls.cert) : credentials.createInsecure();
}

/** For a worker on loopback beside the caller. Its certificate need not name loopback, but must come from the right authority. */
export function ownWorkerCredentials(tls: MutualTls | undefined): ChannelCredentials {
  if (!tls) return credentials.createInsecure();
  return credentials.createSsl(tls.ca, tls.key, tls.cert, { checkServerIdentity: () => undefined });
}

export function serverCredentials(tls: MutualTls | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  return ServerCredentials.createSsl(tls.ca, [{ private_key: tls.key, cert_chain: tls.cert }], true);
}

/** Maximum bytes of one message, either way. Larger content is streamed in chunks. */
export const DEFAULT_MAX_MESSAGE_BYTES = 16_777_216;
