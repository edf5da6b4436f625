import { type RequestFacts } from '../core/access/request-variable';
import { type AccessLink, type AccessLinks } from '../core/proof/access-link';
import { type RequestHeaders } from '../core/access/credential-location';
import { type KeyPlace } from '../core/key-places';
import {
  type AccessRecord,
  type AccessRecords,
  type Clock,
  type DecisionLog,
  type DecisionStep,
  type DecisionTrace,
  type DecisionTracer,
  type QuotaCounter,
  type SpendResult,
  type SubscriptionAccess,
} from '../core/ports';
import { type DenialCode, type ReadOn } from '../core/problems';
import { type RawBody } from '../core/access/kong-pdk';
import { type ContextSigner } from '../core/proof/context-token';
import { type AccessLayerConfig } from './config';

/** What the plugin is given by its composition root. */
export interface AccessLayerDeps {
  readonly records: AccessRecords;
  readonly quota: QuotaCounter;
  readonly decisions: DecisionLog;
  readonly clock: Clock;
  /** Without it no link is accepted. */
  readonly links?: AccessLinks | undefined;
  /** Makes the proof of an admitted request. */
  readonly signContext: ContextSigner;
  /** Reads a body that Kong spooled to a file; undefined when it is larger than `maxBytes`; rejects when the file cannot be read. */
  readonly readBodyFile: (path: string, maxBytes: number) => Promise<Buffer | undefined>;
  readonly log: { error(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** The pages on which callers read on about a refusal. */
  readonly readOn?: ReadOn | undefined;
  /** The realm of a 401's challenge; `tollgate` unless given. */
  readonly realm?: string | undefined;
  /** Absent unless tracing is on. */
  readonly tracer?: DecisionTracer | undefined;
  /** Called with the duration of each step, also of failed ones. Absent unless metrics are on. */
  readonly onStep?: ((step: DecisionStep, durationMs: number) => void) | undefined;
  /** Called for each request on a route that does not enforce, with its products. Absent unless metrics are on. */
  readonly onUnenforced?: ((products: readonly string[]) => void) | undefined;
}

/** One request on its way through the steps; each step fills in what it learned. */
export interface AccessRequest {
  readonly config: AccessLayerConfig;
  readonly requestId: string;
  readonly method: string;
  readonly headers: RequestHeaders;
  readonly rawQuery: string;
  /** Empty if the entrance has checked the path itself. */
  readonly rawPath: string;
  /** For the log, if the method and path above are empty. */
  readonly shown: RequestFacts['shown'];
  readonly callerAddress: string;
  readonly originHost: string | undefined;
  /** Asks Kong for the body: a further exchange, made only when the key can be nowhere else. */
  readonly readBody: () => Promise<RawBody>;
  readonly trace: DecisionTrace | undefined;

  /** Units that the request costs; if the response reports the cost, those taken in advance. */
  units: number;
  key: string | undefined;
  keyPlace: KeyPlace | 'link' | undefined;
  /** Set when a link stands in for the key. */
  link: AccessLink | undefined;
  /** The form without the key, when the key came from there. */
  strippedBody: Buffer | undefined;
  record: AccessRecord | undefined;
  subscription: SubscriptionAccess | undefined;
  matchedRule: string | undefined;
  spend: SpendResult | undefined;
}

/** A refusal. `detail` replaces the table's text where the step knows better. */
export interface Denial {
  readonly code: DenialCode;
  readonly detail?: string;
  /** The seller's reason, if the refusal is for a suspension. Only `explain` shows it. */
  readonly suspended?: string;
}

/** The one signature of every step: undefined means the request goes on. */
export type AccessStep = (request: AccessRequest, deps: AccessLayerDeps) => Promise<Denial | undefined>;
