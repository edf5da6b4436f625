import { endProgram, startProgram } from './program';

/** The smallest service alone, for tests of what is in front of it. Its upstreams are by kong.yml service name. */
export async function startVahaan(signingKeys: string) {
  const env = { SERVICE_PORT: '0', PRIVATE_PORT: '0', SERVICE_LEAVE_MS: '0', TOLLGATE_SIGNING_KEYS: signingKeys, LOG_LEVEL: 'error' };
  const { child, ready } = await startProgram('services/products/main.js', { env, args: ['--service', 'vahaan'] });
  return { upstreams: { vahaan: (ready['services'] as { vahaan: string }).vahaan }, stop: () => endProgram(child) };
}
