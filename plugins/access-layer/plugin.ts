import { maskApiKey } from '../core/access/api-key';
import { originHostOf } from '../core/access/whitelist';
import { removesGatewayHeaders, type RequestHeaders } from '../core/access/credential-location';
import { type KongPdk, type PluginModule, type RawBody } from '../core/access/kong-pdk';
import { type AccessInstance, type Question, type Verdict } from '../core/access/verdict';
import { type Charge, type Decision, type DecisionStep } from '../core/ports';
import { counterOf } from '../core/access/subscription';
import { isPreflight } from '../core/access/cross-origin';
import { forCaller } from '../core/access/grpc-refusal';
import { hidesDotSegment } from '../core/access/request-path';
import { MAX_HEADERS } from '../core/access/request-variable';
import { type Outcome, wouldRefuse } from '../core/problems';
import { type ContextSigner } from '../core/proof/context-token';
import { TRACE_HEADER } from '../core/proof/trace-context';
import { type AccessLayerDeps, type AccessRequest, type AccessStep, type Denial } from './access-request';
import { admit, answerPreflight, letThrough, type RefusalSetting, refuse, tellKong } from './answer';
import { checkAccess } from './check-access';
import { KONG_SCHEMA, parseConfig, type AccessLayerConfig } from './config';
import { RequestReader } from './read-request';
import { resolveKey } from './resolve-key';
import { spendQuota } from './spend-quota';

const STEPS: readonly (readonly [DecisionStep, AccessStep])[] = [
  ['resolve_key', resolveKey],
  ['check_access', checkAccess],
  ['spend_quota', spendQuota],
];

/** What Kong is told about the plugin. 1005: after Kong's bot detection and CORS, before anything that works on an admitted request. */
export const ACCESS_LAYER = { Name: 'access-layer', Version: '0.1.0', Priority: 1005, Schema: KONG_SCHEMA } as const;

/** The plugin, bound to its stores. Tollgate's plugin server and the stock one load the same module shape. */
export function createAccessLayer(deps: AccessLayerDeps): PluginModule<AccessInstance> {
  class AccessLayer implements AccessInstance {
    private readonly config: AccessLayerConfig;
    private readonly reader: RequestReader;

    constructor(config: Record<string, unknown>) {
      this.config = parseConfig(config);
      this.reader = new RequestReader(this.config.ownNames.headers);
      if (!this.config.enforce) deps.log.warn({ products: this.config.products }, describeUnenforced(this.config));
    }

    async access(kong: KongPdk): Promise<void> {
      const startedAtMs = deps.tracer ? deps.clock.monotonic() : 0;
      const facts = await this.reader.read(kong);
      const readBody = async (): Promise<RawBody> => parseBody(await kong.request.getRawBody());
      const verdict = await judge({ ...facts, readBody }, { config: this.config, deps, startedAtMs });
      await tellKong(kong, forCaller(verdict, facts.headers), facts.rawQuery);
    }

    decide(question: Question): Promise<Verdict> {
      return judge(question, { config: this.config, deps, startedAtMs: deps.tracer ? deps.clock.monotonic() : 0 });
    }
  }
  return { ...ACCESS_LAYER, Plugin: AccessLayer, readOn: deps.readOn };
}

/** An API that has Bearer tokens of its own must not lose them while the access layer is tried. */
function describeUnenforced({ keyIn }: AccessLayerConfig): string {
  const text = 'a route does not enforce (enforce: false): every request on it goes on, without a proof';
  return keyIn.has('authorization') ? `${text}; a Bearer token of the API itself counts as a key there and is removed` : text;
}

interface Judging {
  readonly config: AccessLayerConfig;
  readonly deps: AccessLayerDeps;
  readonly startedAtMs: number;
}

async function judge(question: Question, { config, deps, startedAtMs }: Judging): Promise<Verdict> {
  const isAsked = isPreflight(question.method, question.headers);
  if (isAsked && config.enforce) return answerPreflight(question.headers);
  if (!config.enforce) deps.onUnenforced?.(config.products);
  const trace = deps.tracer?.begin(question.headers[TRACE_HEADER], startedAtMs);
  const request = beginRequest(question, config, trace);
  // The API responds to its own preflights, as it did before.
  if (isAsked) return letThrough(request);
  const denial = await decide(request, deps);
  const nowMs = deps.clock.now();
  const decision = describe(request, denial, nowMs);
  deps.decisions.record(decision);
  const nowSeconds = Math.floor(nowMs / 1000);
  let decided: typeof decision | undefined;
  try {
    const { signContext: sign, readOn, realm } = deps;
    const verdict = verdictOf(request, denial, { sign, nowSeconds, readOn, realm });
    decided = decision;
    return verdict;
  } finally {
    trace?.end(decided);
  }
}

/** A request that cannot be read in full is always refused, because a forged header might go on with it. */
const isEnforced = ({ config }: AccessRequest, denial: Denial | undefined): boolean =>
  config.enforce || denial?.code === 'request_not_readable';

function verdictOf(
  request: AccessRequest,
  denial: Denial | undefined,
  setting: RefusalSetting & { readonly sign: ContextSigner },
): Verdict {
  if (!isEnforced(request, denial)) return letThrough(request);
  return denial ? refuse(request, denial, setting) : admit(request, setting);
}

function outcomeOf(request: AccessRequest, denial: Denial | undefined): Outcome {
  if (!denial) return 'admitted';
  return isEnforced(request, denial) ? denial.code : wouldRefuse(denial.code);
}

const noBody = (): Promise<RawBody> => Promise.reject(new Error('this entrance is given no bodies'));

function beginRequest(question: Question, config: AccessLayerConfig, trace: AccessRequest['trace']): AccessRequest {
  const { headers, rawQuery, rawPath, callerAddress, requestId, method, shown, readBody = noBody } = question;
  return {
    config,
    method,
    units: method === 'POST' ? config.postUnits : 1,
    headers,
    rawQuery,
    rawPath,
    shown,
    callerAddress,
    requestId,
    originHost: originHostOf(headers['origin'], headers['referer']),
    readBody,
    trace,
    key: undefined,
    keyPlace: undefined,
    link: undefined,
    strippedBody: undefined,
    record: undefined,
    subscription: undefined,
    matchedRule: undefined,
    spend: undefined,
  };
}

/** The stock server returns the bytes. Tollgate's says whether they are in memory or in a file. */
function parseBody(body: unknown): RawBody {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (first instanceof Uint8Array) return { content: Buffer.from(first) };
  if (typeof first === 'string') return { content: Buffer.from(first, 'latin1') };
  if (typeof first === 'object' && first !== null && ('content' in first || 'filePath' in first)) return first as RawBody;
  throw new Error('Kong did not hand over the request body');
}

/** Runs the steps in order. Any error refuses the request. */
async function decide(request: AccessRequest, deps: AccessLayerDeps): Promise<Denial | undefined> {
  if (countHeaders(request.headers) > MAX_HEADERS) return { code: 'request_not_readable' };
  if (removesGatewayHeaders(request.headers['connection'])) {
    return { code: 'request_not_readable', detail: 'The Connection header names a header that the gateway sets.' };
  }
  if (hidesDotSegment(request.rawPath)) return { code: 'ambiguous_path' };
  try {
    for (const step of STEPS) {
      const denial = await runStep(step, request, deps);
      if (denial) return denial;
    }
    return undefined;
  } catch (error) {
    deps.log.error({ err: error, requestId: request.requestId }, 'the request could not be checked and was refused');
    return { code: 'access_layer_unavailable' };
  }
}

/** Runs one step, and times it when metrics or traces are on. */
async function runStep([name, step]: (typeof STEPS)[number], request: AccessRequest, deps: AccessLayerDeps): Promise<Denial | undefined> {
  const { onStep, clock } = deps;
  if (!onStep && !request.trace) return step(request, deps);
  const startedAtMs = clock.monotonic();
  try {
    return await step(request, deps);
  } finally {
    const endedAtMs = clock.monotonic();
    onStep?.(name, endedAtMs - startedAtMs);
    request.trace?.addStep(name, startedAtMs, endedAtMs);
  }
}

function countHeaders(headers: RequestHeaders): number {
  let count = 0;
  for (const name in headers) {
    const value = headers[name];
    count += typeof value === 'string' ? 1 : (value?.length ?? 0);
  }
  return count;
}

function chargeOf({ record, subscription, spend, units }: AccessRequest): Charge | undefined {
  if (!record || !subscription || !spend) return undefined;
  const { id, limits, isFree5xx = false, unitsByAnswer } = subscription;
  const { day } = spend.standing;
  return { subscriptionId: counterOf(id, record.mode), day, dailyLimit: limits.daily, units, isFree5xx, mostUnits: unitsByAnswer?.most };
}

function describe(request: AccessRequest, denial: Denial | undefined, nowMs: number): Decision {
  const { record, subscription, spend, shown = request } = request;
  return {
    requestId: request.requestId,
    atMs: nowMs,
    products: request.config.products,
    outcome: outcomeOf(request, denial),
    method: shown.method,
    rawPath: shown.rawPath,
    keyPlace: request.keyPlace,
    maskedKey: request.key === undefined ? undefined : maskApiKey(request.key),
    credentialId: record?.credentialId,
    customerId: record?.customerId,
    subscriptionId: subscription?.id,
    product: subscription?.product,
    callerAddress: request.callerAddress,
    originHost: request.originHost,
    matchedRule: request.matchedRule,
    suspended: denial?.suspended,
    charge: denial ? undefined : chargeOf(request),
    quota:
      spend && subscription
        ? {
            day: spend.standing.day,
            usedDaily: spend.standing.usedDaily,
            usedMonthly: spend.standing.usedMonthly,
            ...subscription.limits,
            ...(subscription.isCapped && { isCapped: true }),
            exceeded: spend.exceeded,
          }
        : undefined,
  };
}
