import { CONTEXT_HEADER, type ContextSigner } from '../../plugins/core/proof/context-token';
import { SERVICES } from '../../services/products/registry';
import { send, type Sending } from '../support/http';
import { createProofKeys } from '../support/proof-keys';
import { openInstallation } from './installation';
import { useOpened } from '../support/opened';

const tollgate = useOpened(openInstallation);
let apiKey: string;

beforeAll(async () => {
  apiKey = (await tollgate.createKey({ products: ['api-vahaan'], mode: 'live' })).key;
});

function forgedContext(sign: ContextSigner): string {
  return sign({
    requestId: 'forged',
    credentialId: '00000000-0000-0000-0000-000000000000',
    customerId: '00000000-0000-0000-0000-000000000000',
    subscriptionId: '00000000-0000-0000-0000-000000000000',
    product: 'api-vahaan',
    mode: 'live' as const,
    callerAddress: '127.0.0.1',
    chargedDay: null,
    quota: null,
    expiresAt: Math.floor(Date.now() / 1000) + 60,
  });
}

// Only the gateway of an installation given by its URL reaches that installation's services.
if (process.env['GATEWAY_URL']) console.warn('skipped: the services of an installation given by GATEWAY_URL cannot be reached from here');
const describeServices = process.env['GATEWAY_URL'] ? describe.skip : describe;

describeServices.each(Object.keys(SERVICES))('the service %s, reached around the gateway,', (name) => {
  it.each<[string, () => Sending]>([
    ['no proof', () => ({})],
    ['a valid API key and no proof', () => ({ headers: { 'X-API-Key': apiKey } })],
    ['a proof that is no token', () => ({ headers: { [CONTEXT_HEADER]: 'v1.e30.AAAA' } })],
    ['a proof that somebody else signed', () => ({ headers: { [CONTEXT_HEADER]: forgedContext(createProofKeys().signContext) } })],
  ])('answers %s with 401 gateway_proof_missing', async (_, sending) => {
    const url = tollgate.instance?.services[name] ?? '';
    const reply = await send(`${url.replace(/\/$/, '')}/${name}`, sending());
    expect([reply.status, reply.json().code]).toEqual([401, 'gateway_proof_missing']);
  });
});
