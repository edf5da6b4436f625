import { createSandboxUpstreams } from '../../services/sandbox/sandbox-upstreams';
import { type Sandbox, startSandbox } from '../../services/sandbox/start-sandbox';

/** The sandbox with every upstream, in this process. */
export function startTestSandbox(...options: Parameters<typeof createSandboxUpstreams>): Promise<Sandbox> {
  return startSandbox({ host: '127.0.0.1', port: 0, upstreams: createSandboxUpstreams(...options) });
}
