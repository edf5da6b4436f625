import { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify';
import { type RequestContext } from '../../plugins/core/proof/context-token';
import { type ServiceDefinition, type ServiceTools } from '../../services/kit/service/define-service';
import { checkDocumented } from './documented-answers';
import { createProofKeys, fixedPrivateKey } from '../support/proof-keys';
import { createServiceApp, type ServiceAppOptions } from '../../services/kit/service/service-app';
import { CATALOGUE } from '../support/catalogue';
import { createLog } from '../../services/kit/log';
import { createMetrics } from '../../services/kit/metrics';
import { NOW_MS, testClock } from './test-clock';

/** What every app of the tests believes, in whatever process it runs. */
export const PROOF = createProofKeys(fixedPrivateKey('test', 7));

const SECONDS_A_DAY = 86_400;
const SECONDS_A_MONTH = 2_678_400;

/** A context as the gateway would sign it for an admitted request. */
export function contextFor(product: string, changes: Partial<RequestContext> = {}): RequestContext {
  return {
    requestId: 'request-1',
    credentialId: 'credential-1',
    customerId: 'customer-1',
    subscriptionId: 'subscription-1',
    product,
    mode: 'live',
    callerAddress: '203.0.113.9',
    chargedDay: '2026-03-14',
    quota: {
      daily: { limit: 1_000, remaining: 998, resetsAt: NOW_MS / 1000 + 3_600, windowSeconds: SECONDS_A_DAY },
      monthly: { limit: 30_000, remaining: 29_000, resetsAt: NOW_MS / 1000 + 7_200, windowSeconds: SECONDS_A_MONTH },
    },
    expiresAt: NOW_MS / 1000 + 60,
    ...changes,
  };
}

export function proofHeader(context: RequestContext): Record<string, string> {
  return { 'x-tollgate-context': PROOF.signContext(context) };
}

export interface CallOptions extends InjectOptions {
  /** Changes to the signed context. */
  readonly context?: Partial<RequestContext>;
}

export interface Harness {
  readonly app: FastifyInstance;
  /** A request with a valid proof for the service's first product. */
  readonly call: (options: CallOptions) => Promise<LightMyRequestResponse>;
}

type HarnessOptions<Deps> = Partial<ServiceAppOptions<Deps>> & Pick<ServiceAppOptions<Deps>, 'deps'>;

/** A service in memory. Close `app` when a test started real timers or sockets. */
export function createHarness<Deps>(service: ServiceDefinition<Deps>, options: HarnessOptions<Deps>): Harness {
  const app = createServiceApp(service, { contextKeys: PROOF.contextKeys, clock: testClock, catalogue: CATALOGUE, ...options });
  return {
    app,
    call: async ({ context, headers, ...request }) => {
      const proof = proofHeader(contextFor(service.products[0], context));
      const answer = await app.inject({ ...request, headers: { ...proof, ...headers } });
      checkDocumented(service, request, answer);
      return answer;
    },
  };
}

type BuildOptions = Partial<Pick<ServiceTools<unknown>, 'log' | 'clock'> & Pick<ServiceAppOptions<unknown>, 'refund'>> & {
  readonly sandboxUrl?: string | undefined;
};

/** A service in memory as its process builds it from the environment. Closing `app` closes what that opened. */
export async function buildHarness<Deps, Settings>(
  service: ServiceDefinition<Deps, Settings>,
  env: Readonly<Record<string, string>> = {},
  { sandboxUrl, log = createLog('test', { level: 'silent' }), clock = testClock, refund }: BuildOptions = {},
): Promise<Harness> {
  const settings = service.settings.parse(env);
  const deps = await service.createDeps({ settings, common: { sandboxUrl }, log, clock, metrics: createMetrics() });
  const harness = createHarness(service as ServiceDefinition<Deps>, { deps, log, refund });
  harness.app.addHook('onClose', () => service.close?.(deps));
  return harness;
}
