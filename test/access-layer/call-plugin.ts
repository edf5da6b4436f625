import { type AccessLayerDeps } from '../../plugins/access-layer/access-request';
import { createInstance, memoryQuota, NOW_MS, runEvent, type FakeOutcome, type FakeRequest } from './fake-kong';
import { CONTEXT_HEADER, type ContextVerdict } from '../../plugins/core/proof/context-token';
import { verifyContext } from '../../plugins/core/proof/verify-context';
import { generateApiKey, hashApiKey } from '../../plugins/core/access/api-key';
import { type AccessRecord, type AccessRecords, type Decision, type QuotaCounter } from '../../plugins/core/ports';
import { compileWhitelist } from '../../plugins/core/access/whitelist';
import { createProofKeys } from '../support/proof-keys';

/** Of the one credential that there is. */
export const key = generateApiKey('live');
export const { signContext, contextKeys } = createProofKeys();

/** The credential's record with what a test needs to be different. */
export function recordOf(changes: Partial<AccessRecord> = {}): AccessRecord {
  return {
    credentialId: 'cred-1',
    customerId: 'cust-1',
    mode: 'live',
    state: 'active',
    expiresAtMs: null,
    products: ['api-ip'],
    whitelist: compileWhitelist([]),
    subscriptions: [
      { id: 'sub-1', product: 'api-ip', plan: 'Star', state: 'active', limits: { daily: 2, monthly: 3 }, takesTestKeys: true },
    ],
    ...changes,
  };
}

/** A store that knows the one key, and what it was asked. */
export function recordsOf(record: AccessRecord | undefined): AccessRecords & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    findAccessRecord: (hash) => {
      asked.push(hash);
      return Promise.resolve(hash === hashApiKey(key) ? record : undefined);
    },
  };
}

/** A store that fails. */
export const failing = (error: Error): AccessRecords => ({ findAccessRecord: () => Promise.reject(error) });

/** Sends one request through the plugin and tells what came of it. */
export async function call(
  request: FakeRequest,
  setup: {
    config?: Record<string, unknown>;
    record?: AccessRecord | undefined;
    records?: AccessRecords;
    quota?: QuotaCounter;
    deps?: Partial<AccessLayerDeps>;
  } = {},
): Promise<FakeOutcome & { code: unknown; decision: Decision | undefined }> {
  const { instance, decisions } = createInstance(
    { products: ['api-ip'], ...setup.config },
    {
      records: setup.records ?? recordsOf('record' in setup ? setup.record : recordOf()),
      quota: setup.quota ?? memoryQuota(),
      signContext,
      ...setup.deps,
    },
  );
  const outcome = await runEvent(instance, request);
  return { ...outcome, code: outcome.exit?.body['code'], decision: decisions[0] };
}

/** What a service of api-ip makes of the proof that was set. */
export function proofIn({ set }: Pick<FakeOutcome, 'set'>): ContextVerdict {
  const token = set[CONTEXT_HEADER];
  const expected = { products: ['api-ip'], nowSeconds: NOW_MS / 1000 };
  return verifyContext(typeof token === 'string' ? token : undefined, contextKeys, expected);
}

/** Headers with the key. */
export const bearer = { authorization: `Bearer ${key}` };
