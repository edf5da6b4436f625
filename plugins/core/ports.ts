import { type ProofForm, type QuotaLimits, type Rate } from './catalogue/catalogue';
import { type Outcome } from './problems';
import { type ExceededLimit, type QuotaStanding } from './access/quota';
import { type RefundOutcome } from './catalogue/refunds';
import { type UnitsByAnswer } from './catalogue/units';
import { type Whitelist } from './access/whitelist';

/** `test` keys are served by the sandbox upstreams. */
export type KeyMode = 'live' | 'test';

/** `revoked` is final; `inactive` can be activated again. */
export type CredentialState = 'active' | 'inactive' | 'revoked';

export type SubscriptionState = 'active' | 'paused' | 'cancelled';

interface SandboxAddress {
  readonly host: string;
  readonly port: number;
}

/** A customer's subscription to one product, with the limits in force: its own override, or its plan's limits, or the product's base. */
export interface SubscriptionAccess {
  readonly id: string;
  readonly product: string;
  readonly plan: string | null;
  readonly state: SubscriptionState;
  readonly limits: QuotaLimits;
  /** True if the customer capped the daily limit below what it would be. */
  readonly isCapped?: boolean;
  /** True if a larger plan is sold. */
  readonly isUpgradable?: boolean;
  /** Address that serves test keys instead of the product's upstream. Absent if the service knows its sandbox itself, or there is none. */
  readonly sandbox?: SandboxAddress;
  /** True if a sandbox serves the product's test keys, or the catalogue lets them reach the live API. Otherwise they are refused. */
  readonly takesTestKeys?: boolean;
  /** True if the catalogue gives back units for its API's responses with a status of 500 to 599. */
  readonly isFree5xx?: boolean;
  /** Set if the responses of its API report their cost. */
  readonly unitsByAnswer?: UnitsByAnswer | undefined;
  /** How the product's proofs are signed. Absent: `eddsa`. */
  readonly proof?: ProofForm;
  /** The reason for which the seller suspended it or its customer; empty if none was given. Absent: not suspended. */
  readonly suspended?: string | undefined;
}

/** All that the checks need to know about one key. It is read together, so that it is consistent. */
export interface AccessRecord {
  readonly credentialId: string;
  readonly customerId: string;
  /** Absent if the customer gave none. */
  readonly customerName?: string | undefined;
  readonly mode: KeyMode;
  readonly state: CredentialState;
  /** The reason for which the seller suspended the key; empty if none was given. Absent: not suspended. */
  readonly suspended?: string | undefined;
  /** Unix milliseconds, or null when the key does not expire. */
  readonly expiresAtMs: number | null;
  /** Product ids that the key is authorised for. */
  readonly products: readonly string[];
  readonly whitelist: Whitelist;
  /** The customer's subscriptions to those products, in any state. */
  readonly subscriptions: readonly SubscriptionAccess[];
}

/** Keys by hash. Adapters: Postgres, and the cache in front of it. */
export interface AccessRecords {
  /**
   * @param hash SHA-256 of the API key, 64 lower-case hex digits
   * @param answered called when the store has responded; building the record may take longer
   * @returns the record, or undefined when no such key exists
   * @throws StoreUnavailable when the store does not respond and no entry is young enough
   */
  findAccessRecord(hash: string, answered?: () => void): Promise<AccessRecord | undefined>;
}

export interface SpendRequest {
  /** Counter of the subscription's live keys. `counterOf` gives the counter of its test keys. */
  readonly subscriptionId: string;
  /** The limits now in force. A plan change applies from the next spend on and keeps what was used. */
  readonly limits: QuotaLimits;
  /** Units that the request costs, 1 unless given. All are taken, or none. */
  readonly units?: number | undefined;
}

export interface SpendResult {
  readonly granted: boolean;
  /** Set when not granted. */
  readonly exceeded: ExceededLimit | undefined;
  readonly standing: QuotaStanding;
}

export interface RefundRequest {
  /** Counter of the subscription's live keys. `counterOf` gives the counter of its test keys. */
  readonly subscriptionId: string;
  /** The charged day, `YYYY-MM-DD`. */
  readonly day: string;
  readonly requestId: string;
  /** The daily limit at the time of the charge. It bounds the refunds of that day; see `mostRefundsOf`. */
  readonly dailyLimit: number;
  /** Units to give back, 1 unless given: all of them, or none. */
  readonly units?: number | undefined;
  /** True if nothing failed and the product's catalogue makes the response free (`uncharged`). */
  readonly isExempt?: boolean | undefined;
  /** True for units that were reserved but not used; see `restIdOf`. */
  readonly isRest?: boolean | undefined;
}

/** Units that a request of one day cost beyond those taken for it. If it cost less, the difference is a refund. */
export interface Settlement {
  /** Counter of the subscription's live keys. `counterOf` gives the counter of its test keys. */
  readonly subscriptionId: string;
  /** The charged day, `YYYY-MM-DD`. */
  readonly day: string;
  /** Id of the request. Each is settled once. */
  readonly id: string;
  /** Units to take even if the limit is used up; above zero. */
  readonly units: number;
}

/** `uncharged`: no taken unit is known, or the day is before yesterday. */
export type SettlementOutcome = 'settled' | 'repeated' | 'uncharged';

/**
 * The daily and monthly counters of subscriptions: one counter for live keys and one for test keys, each with the whole limits. Windows
 * turn by the store's clock, never the caller's.
 */
export interface QuotaCounter {
  /**
   * Takes the request's units from day and month, all of them from both or none from either. If the limits have a rate, the request counts
   * once against it when its units are taken. A refund does not give that back, because the request did come.
   * @throws StoreUnavailable when the counter does not respond in time; the units may or may not have been taken
   */
  spend(request: SpendRequest): Promise<SpendResult>;
  /**
   * Gives units of a request back to the day from which they were taken. Counts once for a request id.
   * @throws StoreUnavailable
   */
  refund(refund: RefundRequest): Promise<RefundOutcome>;
  /**
   * Takes more units from a day and its month, past the limits if necessary. Counts once for an id.
   * @throws StoreUnavailable; the call may be repeated
   */
  settle(settlement: Settlement): Promise<SettlementOutcome>;
  /** @throws StoreUnavailable */
  readStanding(subscriptionId: string): Promise<QuotaStanding>;
}

/** A store did not respond, or not in time. The message names the store, never a value. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The units taken for an admitted request, and when they are given back. */
export interface Charge extends Pick<RefundRequest, 'subscriptionId' | 'day' | 'dailyLimit'> {
  /** Units taken in advance, if the response reports its cost. */
  readonly units: number;
  /** See `SubscriptionAccess`. */
  readonly isFree5xx: boolean;
  /** The highest cost that the response may report. Absent: the request costs what was taken. */
  readonly mostUnits?: number | undefined;
}

/** The access layer's decision on one request, as `explain` shows it. Has no key and no query string. */
export interface Decision {
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly atMs: number;
  /** Product ids that the route admits. */
  readonly products: readonly string[];
  readonly outcome: Outcome;
  readonly method?: string;
  /** The path as the caller sent it, without the query. Empty if the gateway has judged the path itself. */
  readonly rawPath?: string;
  readonly keyPlace: string | undefined;
  /** Prefix and last four of the key as displayed, never more. */
  readonly maskedKey: string | undefined;
  readonly credentialId: string | undefined;
  readonly customerId: string | undefined;
  readonly subscriptionId: string | undefined;
  /** The product whose subscription admitted or refused. */
  readonly product: string | undefined;
  readonly callerAddress: string | undefined;
  /** Host of Origin or, without one, of Referer. */
  readonly originHost: string | undefined;
  readonly matchedRule: string | undefined;
  /** The reason for which the seller had suspended the key, its subscription or its customer; absent if that was not why it was refused. */
  readonly suspended?: string | undefined;
  /** The units that it took, and their counter. Absent if nothing was counted. */
  readonly charge?: Charge | undefined;
  readonly quota:
    | {
        day: string;
        usedDaily: number;
        usedMonthly: number;
        daily: number;
        monthly: number;
        /** The rate in force, if there is one. */
        rate?: Rate | undefined;
        exceeded: ExceededLimit | undefined;
        /** True if the daily limit is the customer's own cap. */
        isCapped?: boolean;
      }
    | undefined;
}

/** The response to an admitted request, as its gateway reported it. */
export interface Answer {
  readonly requestId: string;
  readonly credentialId: string;
  /** The product that admitted it. */
  readonly product: string;
  /** 499: the client left before the response was sent. */
  readonly status: number;
  /** Bytes of the response's body that were sent. */
  readonly bytes: number;
  /** Unix milliseconds of the decision. */
  readonly atMs: number;
  /** Time from the first byte of the request at the gateway to the last byte of the response. */
  readonly elapsedMs: number;
  /** The request's cost, unless it is given back. Absent if nothing was counted. */
  readonly units?: number | undefined;
  /** False if the gateway responded itself, because the API did not. */
  readonly isFromApi: boolean;
}

/** Destination of decisions. Never blocks and never throws: losing a line must not cost a request. */
export interface DecisionLog {
  record(decision: Decision): void;
}

/** The steps of a decision, in their order. */
export type DecisionStep = 'resolve_key' | 'check_access' | 'spend_quota';

/** One decision as a part of a distributed trace. All times are those of {@link Clock.monotonic}. */
export interface DecisionTrace {
  /** Sent to the service, so that its work for this request joins the same trace. */
  readonly traceparent: string;
  addStep(step: DecisionStep, startedAtMs: number, endedAtMs: number): void;
  /** @param decision undefined when the plugin failed */
  end(decision: Decision | undefined): void;
}

/** Destination of traces. Never blocks and never throws. */
export interface DecisionTracer {
  /**
   * @param given the request's own `traceparent`, as Kong shows it
   * @returns undefined for an untraced request whose caller sent no context
   */
  begin(given: string | readonly string[] | undefined, startedAtMs: number): DecisionTrace | undefined;
}

/** Injected so that decisions can be tested at any time. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds that never go back, for deadlines and ages. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };
