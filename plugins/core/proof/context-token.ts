import { type LinkGrant } from './access-link';
import { type KeyMode } from '../ports';
import { type QuotaReport } from '../access/quota';
import { type ProofForm } from '../catalogue/catalogue';

/** The access layer's facts for a service about an admitted request. Signed; never sent to the caller. */
export interface RequestContext {
  readonly requestId: string;
  readonly credentialId: string;
  readonly customerId: string;
  readonly subscriptionId: string;
  /** The product whose subscription admitted the request. */
  readonly product: string;
  readonly mode: KeyMode;
  /** The caller's address as the gateway sees it. */
  readonly callerAddress: string;
  /** `YYYY-MM-DD` from which units were taken, or null when nothing was charged. */
  readonly chargedDay: string | null;
  /** Number of units taken from that day; absent: one. */
  readonly units?: number | undefined;
  readonly quota: QuotaReport | null;
  /** Set if a link admitted the request: it may read this resource and nothing else. */
  readonly link?: LinkGrant | undefined;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** The header that carries the proof from the gateway to a service. */
export const CONTEXT_HEADER = 'X-Tollgate-Context';

/** Short, so that a leaked header is soon worthless. Even an upload's head reaches the service at once (kong.yml). */
export const CONTEXT_LIFETIME_SECONDS = 60;

/** A token has about 1,000 characters. */
export const MAX_TOKEN_LENGTH = 4_096;

/** Makes the value of {@link CONTEXT_HEADER}. @param proof the form that the product's catalogue entry names */
export type ContextSigner = (context: RequestContext, proof?: ProofForm) => string;

export type ContextVerdict =
  { ok: true; context: RequestContext } | { ok: false; reason: 'absent' | 'malformed' | 'forged' | 'expired' | 'misdirected' };
