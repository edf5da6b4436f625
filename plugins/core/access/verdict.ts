import { type KongPlugin, type RawBody } from './kong-pdk';
import { type RequestFacts } from './request-variable';

/** A request as an entrance knows it. */
export interface Question extends RequestFacts {
  /** Reads the body. Called only if the key can be nowhere else. Absent if the entrance gets no bodies. */
  readonly readBody?: () => Promise<RawBody>;
}

/** The caller, for the gateway's own plugins. */
export interface Consumer {
  readonly id: string;
  /** The customer's name, or its id. */
  readonly username: string;
  readonly credentialId: string;
}

/** The request goes on with these changes. */
export interface Admission {
  readonly admitted: true;
  /** Headers for the service. The proof is the last one. */
  readonly set: Readonly<Record<string, string>>;
  /** Lower-cased names of headers that the service must not see. */
  readonly remove: readonly string[];
  /** The query for the service, without the key. */
  readonly rawQuery: string;
  /** The body for the service, instead of the form that had the key. */
  readonly body: Buffer | undefined;
  /** Replaces the address of the request's service. */
  readonly target: { readonly host: string; readonly port: number } | undefined;
  /** Set if the route asks for it (`consumer` in the plugin's settings). */
  readonly consumer?: Consumer | undefined;
  /** For the response to the caller. */
  readonly responseHeaders: Readonly<Record<string, string>>;
}

/**
 * The response to the caller; nothing reaches the service. The response to a preflight has status 200, and an entrance must not treat it as
 * an admission.
 */
export interface AccessRefusal {
  readonly admitted: false;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type Verdict = Admission | AccessRefusal;

/** One configuration of the access layer, for Kong's plugin and every other entrance. */
export interface AccessInstance extends KongPlugin {
  /** Rejects when no verdict could be found. The request must then be refused. */
  decide(question: Question): Promise<Verdict>;
}
