import { isDeepStrictEqual } from 'node:util';
import { type Pool } from 'pg';
import { type KeyMode } from '../../plugins/core/ports';
import { changeSubscription, setSubscriptionState } from '../../services/selling/subscriptions/change-subscription';
import { createCustomer } from '../../services/selling/customers/create-customer';
import { createKey, type CreatedKey } from '../../services/selling/keys/create-key';
import { expireKey, revokeKey, setKeyState } from '../../services/selling/keys/set-key-state';
import { type OwnLimitsWish } from '../../services/selling/subscriptions/subscription-terms';
import { createPool } from '../../plugins/stores/postgres/pool';
import { replaceKeyRules } from '../../services/selling/keys/whitelist-rules';
import { OperationRefused } from '../../services/selling/operations/operation-refused';
import { type SandboxExample } from '../support/follow-example';
import { closeConnections, send } from '../support/http';
import { sendPatiently } from '../support/send-patiently';
import { startInstance, type RunningInstance } from '../support/system/instance';
import { sharedInstance, type SharedInstance } from '../support/system/shared-instance';
import { PATIENCE_MS } from '../support/postgres/postgres';
import { checkLogs, noteSecret } from '../support/used-secrets';

export type IssuedKey = Pick<CreatedKey, 'key' | 'id' | 'subscriptions'>;

export interface KeyOptions {
  /** Email of a customer; a new one unless given. */
  customer?: string;
  products: string[];
  mode?: KeyMode;
  plan?: string;
  expiresAt?: Date;
  allow?: string[];
  daily?: number;
  monthly?: number;
  subscribe?: boolean;
}

/**
 * A Tollgate to test from outside: the one that GATEWAY_URL, DATABASE_URL and SANDBOX_URL name, else one started from this folder
 * for all test files of the run.
 * Keys are made through the same operations as the command line's.
 */
export interface Installation extends ReturnType<typeof connectTo> {
  /** Shared with other test files, which use customers of their own; undefined when URLs name the installation. */
  readonly instance: SharedInstance | undefined;
  /** @throws Error when the logs hold a secret that was sent or issued; those of an installation given by its URL are not here */
  close(): Promise<void>;
}

/** One of the calling test file alone, which may break it. */
export interface OwnInstallation extends Installation {
  readonly instance: RunningInstance;
}

const actor = 'acceptance';
let emails = 0;

interface Endpoints {
  readonly gateway: string;
  readonly databaseUrl: string;
  readonly sandbox: string;
}

function namedEndpoints(): Endpoints | undefined {
  const { GATEWAY_URL, DATABASE_URL, SANDBOX_URL } = process.env;
  if (!GATEWAY_URL) return undefined;
  if (!DATABASE_URL || !SANDBOX_URL) throw new Error('GATEWAY_URL needs DATABASE_URL and SANDBOX_URL of the same installation');
  return { gateway: GATEWAY_URL, databaseUrl: DATABASE_URL, sandbox: SANDBOX_URL };
}

export async function openInstallation(): Promise<Installation> {
  const named = namedEndpoints();
  if (named) return { ...connectTo(named), instance: undefined };
  const instance = await sharedInstance();
  const installation = connectTo(instance);
  return {
    ...installation,
    instance,
    async close() {
      await installation.close();
      checkLogs(instance.dataDir);
    },
  };
}

/** For tests that break something. @param env adds to its environment */
export async function openOwnInstallation(env: Readonly<Record<string, string>> = {}): Promise<OwnInstallation> {
  const instance = await startInstance(env);
  const installation = connectTo(instance);
  return {
    ...installation,
    instance,
    async close() {
      await installation.close();
      await instance.stop(checkLogs);
    },
  };
}

function connectTo(endpoints: Endpoints) {
  const db = createPool(endpoints.databaseUrl, { max: 4, applicationName: 'acceptance', statementTimeoutMs: PATIENCE_MS });
  const newEmail = (): string => `acceptance-${process.pid}-${Date.now()}-${emails++}@example.com`;
  return {
    gatewayUrl: endpoints.gateway.replace(/\/$/, ''),
    sandboxUrl: endpoints.sandbox.replace(/\/$/, ''),
    newEmail,
    createKey: (options: KeyOptions) => issue(db, { customer: newEmail(), ...options }),
    keys: {
      revoke: (id: string) => revokeKey(db, { id, actor }),
      deactivate: (id: string) => setKeyState(db, { id, state: 'inactive', actor }),
      activate: (id: string) => setKeyState(db, { id, state: 'active', actor }),
      expire: (id: string, at: Date) => expireKey(db, { id, at, actor }),
      rules: (id: string, rules: string[]) => replaceKeyRules(db, { id, rules, actor }),
    },
    subscriptions: {
      pause: (id: string) => setSubscriptionState(db, { id, state: 'paused', actor }),
      resume: (id: string) => setSubscriptionState(db, { id, state: 'active', actor }),
      cancel: (id: string) => setSubscriptionState(db, { id, state: 'cancelled', actor }),
      change: (id: string, limits: OwnLimitsWish) => changeSubscription(db, { id, ...limits, actor }),
    },
    /** The address under which the gateway sees this test: not loopback when it runs behind a published port. */
    async callerAddress(): Promise<string> {
      const { key } = await issue(db, { customer: newEmail(), products: ['api-ip'], mode: 'test' });
      return (await sendPatiently(`${endpoints.gateway.replace(/\/$/, '')}/ip`, { headers: { 'X-API-Key': key } })).json().ip;
    },
    /** An input that the sandbox documents for this outcome, ready to send. */
    sandboxInput: async (product: string, outcome: string) => (await findExample(endpoints.sandbox, { product, outcome })).input,
    /** A GET of any product that the sandbox documents for this outcome. */
    sandboxGet: (outcome: string) => findExample(endpoints.sandbox, { method: 'GET', outcome }),
    async close(): Promise<void> {
      closeConnections();
      await db.end();
    },
  };
}

async function issue(db: Pool, { allow, customer, ...options }: KeyOptions & { customer: string }): Promise<IssuedKey> {
  await createCustomer(db, { email: customer, actor }).catch((error: unknown) => {
    if (!(error instanceof OperationRefused && error.code === 'customer_exists')) throw error;
  });
  const issued = await createKey(db, { ...options, customer, ...(allow ? { rules: allow } : {}), actor });
  // The logs are searched for every key when the tests are over, used or not.
  noteSecret('API key', issued.key);
  return issued;
}

async function findExample(
  sandbox: string,
  wanted: Partial<Pick<SandboxExample, 'product' | 'method' | 'outcome'>>,
): Promise<SandboxExample> {
  const entries = (await send(`${sandbox.replace(/\/$/, '')}/`)).json() as SandboxExample[];
  const entry = entries.find((each) => isDeepStrictEqual({ ...each, ...wanted }, each));
  if (!entry) throw new Error(`the sandbox documents no input for ${JSON.stringify(wanted)}`);
  return entry;
}
