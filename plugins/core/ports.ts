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

export interface SandboxAddress {
  readonly host: string;
  readonly port: number;
}

/** A customer's subscription to one product, with the limits in force: its own override, else its plan's, else the product's base. */
export interface SubscriptionAccess {
  readonly id: string;
  readonly product: string;
  readonly plan: string | null;
  readonly state: SubscriptionState;
  readonly limits: QuotaLimits;
  /** True if the customer capped the daily limit below what it would be. */
  readonly isCapped?: boolean;
  /** True if a plan with more is sold. */
  readonly isUpgradable?: boolean;
  /** Where test keys are served instead of the product's upstream. Absent if the service knows its sandbox itself, or there is none. */
  readonly sandbox?: SandboxAddress;
  /** True if a sandbox answers the product's test keys, or the catalogue lets them reach the live API. Otherwise they are refused. */
  readonly takesTestKeys?: boolean;
  /** True if the catalogue gives back what its API answers with a status of 500 to 599. */
  readonly isFree5xx?: boolean;
  /** Set if the responses of its API report their cost. */
  readonly unitsByAnswer?: UnitsByAnswer | undefined;
  /** How the product's proofs are signed. Absent: `eddsa`. */
  readonly proof?: ProofForm;
  /** Why the seller suspended it, or its customer; empty when no reason was given. Absent: not suspended. */
  readonly suspended?: string | undefined;
}

/** All that the checks need to know about one key, read together so that they are of one time. */
export interface AccessRecord {
  readonly credentialId: string;
  readonly customerId: string;
  /** Absent where the customer gave none. */
  readonly customerName?: string | undefined;
  readonly mode: KeyMode;
  readonly state: CredentialState;
  /** Why the seller suspended the key; empty when no reason was given. Absent: not suspended. */
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
   * @throws StoreUnavailable when neither the store nor an entry young enough can answer
   */
  findAccessRecord(hash: string, answered?: () => void): Promise<AccessRecord | undefined>;
}

export interface SpendRequest {
  /** Counter of the subscription's live keys; `counterOf` gives that of its test keys. */
  readonly subscriptionId: string;
  /** The limits now in force; a plan change counts from the next spend and keeps what was used. */
  readonly limits: QuotaLimits;
  /** How many units the request costs, 1 unless given: all are taken, or none. */
  readonly units?: number | undefined;
}

export interface SpendResult {
  readonly granted: boolean;
  /** Set when not granted. */
  readonly exceeded: ExceededLimit | undefined;
  readonly standing: QuotaStanding;
}

export interface RefundRequest {
  /** Counter of the subscription's live keys; `counterOf` gives that of its test keys. */
  readonly subscriptionId: string;
  /** `YYYY-MM-DD`, the charged day. */
  readonly day: string;
  readonly requestId: string;
  /** The daily limit when the request was charged; it bounds the refunds of that day, see `mostRefundsOf`. */
  readonly dailyLimit: number;
  /** How many units to give back, 1 unless given: all of them, or none. */
  readonly units?: number | undefined;
  /** True where nothing failed: the product's catalogue charges nothing (`uncharged`). */
  readonly isExempt?: boolean | undefined;
  /** True for units that were reserved and not used; see `restIdOf`. */
  readonly isRest?: boolean | undefined;
}

/** Units that a request of one day cost beyond those taken for it. Where it cost less, the difference is a refund. */
export interface Settlement {
  /** Counter of the subscription's live keys; `counterOf` gives that of its test keys. */
  readonly subscriptionId: string;
  /** `YYYY-MM-DD`, the charged day. */
  readonly day: string;
  /** Id of the request. Each is settled once. */
  readonly id: string;
  /** Units to take even if the limit is used up; above zero. */
  readonly units: number;
}

/** `uncharged`: nothing is known to have been taken, or the day is before yesterday. */
export type SettlementOutcome = 'settled' | 'repeated' | 'uncharged';

/** The daily and monthly counters of subscriptions: one for live keys, one for test keys, each with the whole limits. Windows turn by the store's clock, never the caller's. */
export interface QuotaCounter {
  /**
   * Takes the request's units from day and month, all of them from both or none from either. Where the limits have a rate, the request
   * counts once against it, if its units are taken. A refund does not give that back: the request came.
   * @throws StoreUnavailable when the counter cannot answer in time; the units may or may not have been taken
   */
  spend(request: SpendRequest): Promise<SpendResult>;
  /**
   * Gives units of a request back to the day they were taken from, once a request id.
   * @throws StoreUnavailable
   */
  refund(refund: RefundRequest): Promise<RefundOutcome>;
  /**
   * Takes more units from a day and its month, past the limits if need be: once an id.
   * @throws StoreUnavailable; it may be asked again
   */
  settle(settlement: Settlement): Promise<SettlementOutcome>;
  /** @throws StoreUnavailable */
  readStanding(subscriptionId: string): Promise<QuotaStanding>;
}

/** A store that did not respond, or not in time. The message names the store, never a value. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The units that an admitted request took, and when they are given back. */
export interface Charge extends Pick<RefundRequest, 'subscriptionId' | 'day' | 'dailyLimit'> {
  /** Units that were taken in advance, if the response says what it costs. */
  readonly units: number;
  /** See `SubscriptionAccess`. */
  readonly isFree5xx: boolean;
  /** The highest cost that the response may report. Absent: the request costs what was taken. */
  readonly mostUnits?: number | undefined;
}

/** What the access layer decided on one request; `explain` shows it. Holds no key and no query string. */
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
  /** Host of Origin, else of Referer. */
  readonly originHost: string | undefined;
  readonly matchedRule: string | undefined;
  /** Why the seller had suspended the key, its subscription or its customer; absent when that was not why it was refused. */
  readonly suspended?: string | undefined;
  /** What it took from which counter. Absent where nothing was counted. */
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
        /** The daily limit is the customer's own cap. */
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
  /** From the first byte of the request at the gateway to the last byte of the response. */
  readonly elapsedMs: number;
  /** What it costs, unless it is given back. Absent if nothing was counted. */
  readonly units?: number | undefined;
  /** False where the gateway responded itself, because the API did not. */
  readonly isFromApi: boolean;
}

/** Where decisions go. Never blocks and never throws: losing a line must not cost a request. */
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

/** Where traces go. Never blocks and never throws. */
export interface DecisionTracer {
  /**
   * @param given the request's own `traceparent`, as Kong shows it
   * @returns undefined for a request that is not traced and whose caller sent no context
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
