import { type AddressInfo } from 'node:net';
import { createGdplayDeps, type GdplayDeps, gdplaySettings } from '../../../services/products/gdplay/deps';
import { gdplayService } from '../../../services/products/gdplay/routes';
import { createLog } from '../../../services/kit/log';
import { createMetrics } from '../../../services/kit/metrics';
import { createServiceApp } from '../../../services/kit/service/service-app';
import { PROOF, contextFor, proofHeader } from '../../kit/context';
import { createHarness, type Harness } from '../../kit/harness';
import { testClock } from '../../kit/test-clock';
import { CATALOGUE } from '../../support/catalogue';

/** The two ways of looking files up. */
export const ADAPTERS = [
  ['with an API key', { GDPLAY_API_KEY: 'live-api-key-1' }],
  ['without an API key', {}],
] as const;

export function gdplayDeps(env: Readonly<Record<string, string>>, sandboxUrl?: string): GdplayDeps {
  return createGdplayDeps({
    settings: gdplaySettings.parse(env),
    common: { sandboxUrl },
    log: createLog('gdplay', { level: 'silent' }),
    clock: testClock,
    metrics: createMetrics(),
  });
}

export function gdplayHarness(env: Readonly<Record<string, string>>, sandboxUrl?: string): Harness {
  return createHarness(gdplayService, { deps: gdplayDeps(env, sandboxUrl) });
}

export const TEST_HEADERS = proofHeader(contextFor('api-gdplay', { mode: 'test' }));

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** The service on a real port; send {@link TEST_HEADERS}. */
export async function listenGdplay(deps: GdplayDeps): Promise<Listening> {
  const app = createServiceApp(gdplayService, { contextKeys: PROOF.contextKeys, clock: testClock, catalogue: CATALOGUE, deps });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      await app.close();
      await deps.transport.close();
    },
  };
}
