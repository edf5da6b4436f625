import { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify';
import { type RequestContext } from '../../plugins/core/proof/context-token';
import { type ServiceDefinition, type ServiceTools } from '../../services/kit/service/define-service';
import { checkDocumented } from './documented-answers';
import { createServiceApp, type ServiceAppOptions } from '../../services/kit/service/service-app';
import { CATALOGUE } from '../support/catalogue';
import { createLog } from '../../services/kit/log';
import { contextFor, PROOF, proofHeader } from './context';
import { createMetrics } from '../../services/kit/metrics';
import { testClock } from './test-clock';

export interface CallOptions extends InjectOptions {
  /** Changes to the signed context. */
  readonly context?: Partial<RequestContext>;
}

export interface Harness {
  readonly app: FastifyInstance;
  /** A request with a valid proof for the service's first product. */
  readonly call: (options: CallOptions) => Promise<LightMyRequestResponse>;
  close(): Promise<void>;
}

type HarnessOptions<Deps> = Partial<ServiceAppOptions<Deps>> & Pick<ServiceAppOptions<Deps>, 'deps'>;

/** A service in memory. Close it when a test started real timers or sockets. */
export function createHarness<Deps>(service: ServiceDefinition<Deps>, options: HarnessOptions<Deps>): Harness {
  const app = createServiceApp(service, { contextKeys: PROOF.contextKeys, clock: testClock, catalogue: CATALOGUE, ...options });
  return {
    app,
    close: () => app.close(),
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

/** A service in memory as its process builds it from the environment. Closing it closes what that opened. */
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
