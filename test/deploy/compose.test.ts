import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { parse } from 'yaml';
import { randomBytes } from 'node:crypto';
import { liveStates } from '../../cli/live-sources';
import { SECRET_NAMES } from '../../cli/container/secret-names';
import { HOLDERS } from '../../cli/container/write-credentials';
import { SERVICE_NAMES, SERVICES, workersOf } from '../../services/products/registry';
import { CATALOGUE } from '../support/catalogue';
import { type SharedKey } from '../../plugins/core/proof/context-keys';
import { createContextKey, keySetOf, type NewContextKey } from '../../plugins/core/proof/create-context-key';
import { derivePrivateKey, deriveProductKey, formatSecrets, rotateSecrets } from '../../plugins/core/proof/product-keys';
import { verifyContext } from '../../plugins/core/proof/verify-context';
import { signingSettings } from '../../plugins/server/signing-settings';
import { proofSettings } from '../../services/kit/service/proof-settings';
import { contextFor } from '../kit/context';

const ROOT = resolve(__dirname, '..', '..');
const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');

interface ComposeService {
  image?: string;
  command?: string[];
  environment?: Record<string, string | null>;
  ports?: string[];
  volumes?: string[];
  networks?: string[];
  read_only?: boolean;
  restart?: string;
  healthcheck?: { test: string[] };
  secrets?: string[];
  depends_on?: Record<string, { condition: string }>;
  profiles?: string[];
}

interface ComposeFile {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean } | null>;
  secrets: Record<string, { file: string }>;
}

const file = parse(text, { merge: true, maxAliasCount: -1 }) as ComposeFile;
const services = Object.entries(file.services);
const ours = services.filter(([, { image }]) => image?.includes('TOLLGATE_IMAGE'));
const longRunning = services.filter(([, { restart }]) => restart !== 'no');

/** Names of the services that have such a one. */
const namesOf = (has: (service: ComposeService) => unknown): string[] => services.filter(([, each]) => has(each)).map(([name]) => name);

function find(name: string): ComposeService {
  const service = file.services[name];
  if (!service) throw new Error(`docker-compose.yml has no ${name}`);
  return service;
}

const holdersOf = (secret: string): string[] => namesOf(({ secrets }) => secrets?.includes(secret));

describe('docker-compose.yml', () => {
  it('runs every service of the registry under the role of its name', () => {
    for (const name of Object.keys(SERVICES)) expect(find(`tollgate-${name}`).command).toEqual(['service', name]);
  });

  it('has the dashboard ask every service and worker which products have a live source', () => {
    const asked = find('dashboard').environment?.['DASHBOARD_LIVE_FROM']?.split(/,\s*/) ?? [];
    const named = services.filter(([name, { profiles }]) => /^(tollgate|worker)-/.test(name) && !profiles).map(([name]) => name);
    expect(asked.map((url) => url.trim()).sort()).toEqual(named.map((name) => `http://${name}:9090`).sort());
  });

  it('has every host and port that kong.yml sends requests to', () => {
    const kong = parse(readFileSync(join(ROOT, 'kong', 'kong.yml'), 'utf8')) as { services: { url: string }[] };
    const upstreams = kong.services.map(({ url }) => new URL(url));
    expect(upstreams.length).toBeGreaterThan(0);
    for (const { hostname, port } of upstreams) {
      expect(find(hostname).command?.[0]).toBe(hostname === 'dashboard' ? 'dashboard' : 'service');
      expect(find('kong').networks?.some((network) => find(hostname).networks?.includes(network))).toBe(true);
      expect(port).toBe('8080');
    }
  });

  it('has Kong look a service up again within seconds: a container that was made anew has another address', () => {
    const { KONG_DNS_VALID_TTL: validTtl, KONG_DNS_STALE_TTL: staleTtl } = find('kong').environment ?? {};
    expect(Number(validTtl) + Number(staleTtl)).toBeLessThan(10);
  });

  it('has the command line check the files that Kong reads, not those of the image', () => {
    expect(find('kong').volumes).toContain('./kong:/etc/kong:ro');
    expect(find('cli').volumes).toContain('./kong:/app/kong:ro');
  });

  it('has every worker that a service is told to call', () => {
    const urls = services.flatMap(([, { environment = {} }]) =>
      Object.entries(environment).filter(([name]) => name.endsWith('_WORKER_URL')),
    );
    expect(urls.length).toBeGreaterThan(0);
    for (const [, url] of urls) {
      const [host = '', port] = String(url).split(':');
      expect([find(host).command, port]).toEqual([['worker', host.slice('worker-'.length)], '7000']);
    }
  });

  it('hands on every setting that the documentation tells operators to set', () => {
    const documents = ['products.md', 'seller-webhooks.md', 'billing.md'].map((name) => readFileSync(join(ROOT, 'docs', name), 'utf8'));
    const named = new Set(documents.join('\n').match(/\b[A-Z]{2,}(?:_[A-Z]+)+\b/g));
    const handedOn = new Set(services.flatMap(([, { environment = {} }]) => Object.keys(environment)));
    expect(named.size).toBeGreaterThan(40);
    expect([...named].filter((name) => !handedOn.has(name))).toEqual([]);
  });

  it('tells the command line which products have a live source, as their workers are told', () => {
    const sources = liveStates({}, CATALOGUE).flatMap(({ missing }) => missing.flatMap((text) => text.split(' with ')));
    const workers = longRunning.flatMap(([, { environment = {} }]) => Object.keys(environment));
    expect(sources.length).toBeGreaterThan(8);
    for (const name of sources) expect([name, find('cli').environment?.[name], workers.includes(name)]).toEqual([name, null, true]);
  });

  it('publishes Kong and the dashboard, and nothing else', () => {
    expect(namesOf(({ ports }) => ports)).toEqual(['kong', 'dashboard']);
    // The dashboard speaks no TLS: unless its operator says otherwise, only this machine reaches it.
    expect(find('dashboard').ports).toEqual([expect.stringMatching(/^\$\{DASHBOARD_LISTEN:-127\.0\.0\.1:/)]);
  });

  it('keeps the databases on a network without a way out', () => {
    expect(file.networks['stores']).toEqual({ internal: true });
    for (const name of ['postgres', 'redis']) expect(find(name).networks).toEqual(['stores']);
    expect(file.networks['answers']).toEqual({ internal: true });
    expect(namesOf(({ networks }) => networks?.includes('answers'))).toEqual(['kong', 'plugin-server']);
    expect(find('plugin-server').networks).toEqual(['stores', 'answers']);
  });

  it('names every image by a variable, with a default that is pinned to a version', () => {
    for (const [name, { image }] of services)
      expect([name, image]).toEqual([name, expect.stringMatching(/^\$\{[A-Z]+_IMAGE:-[a-z]+:[\w.-]+\}$/)]);
    expect(text).not.toContain(':latest');
  });

  it('has no default for any secret', () => {
    const secret = /(SIGNING_KEYS|CONTEXT_SECRETS|CONTEXT_KEYS|PASSWORD|TOKEN|_KEY|_SECRET|SMTP_URL)$/;
    const values = services.flatMap(([, { environment = {} }]) => Object.entries(environment).filter(([name]) => secret.test(name)));
    const some = [
      'TOLLGATE_CONTEXT_SECRETS',
      'TOLLGATE_CONTEXT_PRIVATE_KEY',
      'TOLLGATE_SIGNING_KEYS',
      'POSTGRES_PASSWORD',
      'DASHBOARD_SECRET',
    ];
    expect(values.map(([name]) => name)).toEqual(expect.arrayContaining(some));
    // From the environment or absent; `null` means taken over from it.
    for (const [, value] of values) expect(value === null || /^\$\{[A-Z_]+:-\}$/.test(value)).toBe(true);
    for (const { file: path } of Object.values(file.secrets)) expect(path).toMatch(/^\$\{[A-Z_]+_FILE:-\/dev\/null\}$/);
  });

  it('gives our containers secrets by names that they also read from files', () => {
    const names = new Set(ours.flatMap(([, { environment = {} }]) => Object.keys(environment)));
    const isSecret = /(_KEY|_KEYS|_TOKEN|_SECRET|_SECRETS|_PASSWORD|_JWKS|_HEADERS|SMTP_URL|DATABASE_URL|REDIS_URL|WORKER_TLS_[A-Z]+)$/;
    const secrets = [...names].filter((name) => isSecret.test(name));
    const fromFiles = [...names].filter((name) => name.endsWith('_FILE')).map((name) => name.slice(0, -'_FILE'.length));
    expect(secrets.length).toBeGreaterThan(25);
    for (const name of [...secrets, ...fromFiles]) expect(SECRET_NAMES).toContain(name);
  });

  it('gives each container the credentials of its kind and no other, and the superuser’s password to nobody who stays up but PostgreSQL', () => {
    const kindOf = (name: string): string | undefined => {
      if (name.startsWith('tollgate-')) return `service-${find(name).command?.[1]}`;
      if (name.startsWith('worker-')) return 'worker';
      return name === 'plugin-server' ? 'plugin' : ['dashboard', 'migrate', 'cli', 'redis'].find((kind) => kind === name);
    };
    for (const [name, { volumes = [] }] of services.filter(([each]) => each !== 'credentials')) {
      const held = volumes.filter((volume) => volume.startsWith('credentials-'));
      const kind = kindOf(name);
      expect([name, held]).toEqual([name, kind === undefined ? [] : [`credentials-${kind}:/etc/tollgate:ro`]]);
    }
    expect(holdersOf('postgres_password').sort()).toEqual(['credentials', 'postgres']);
    for (const [name, { environment = {} }] of longRunning) {
      const names = Object.keys(environment).filter((each) => /^(DATABASE|POSTGRES)_/.test(each));
      expect([name, names.filter((each) => name !== 'postgres' || !each.startsWith('POSTGRES_'))]).toEqual([name, []]);
    }
  });

  it('has a folder in the image for every kind of credentials, and a certificate for every worker', () => {
    const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
    const { volumes = [], command = [] } = find('credentials');
    expect(volumes).toEqual(HOLDERS.map((holder) => `credentials-${holder}:/credentials/${holder}`));
    const [, folders = ''] = /node -p "([^"]+)"/.exec(dockerfile) ?? [];
    const load = (path: string): unknown => jest.requireActual(join(ROOT, path.replace('./dist/', '').replace('.js', '')));
    expect(runInNewContext(folders, { require: load })).toBe(HOLDERS.map((holder) => `/credentials/${holder}`).join(' '));
    const workers = services.map(([name]) => name).filter((name) => name.startsWith('worker-'));
    expect(command).toEqual(['credentials', ...workers]);
  });

  it('gives what signs proofs to the plugin server alone, and shared keys to services too', () => {
    const toldOf = (name: string): string[] => namesOf(({ environment = {} }) => name in environment);
    expect([holdersOf('context_private_key'), toldOf('TOLLGATE_CONTEXT_PRIVATE_KEY')]).toEqual([['plugin-server'], ['plugin-server']]);
    // The one-shot gives each service the keys of its products.
    expect(holdersOf('context_secrets')).toEqual(['plugin-server', 'credentials']);
    expect(toldOf('TOLLGATE_CONTEXT_SECRETS')).toEqual(['plugin-server', 'credentials']);
    expect(toldOf('TOLLGATE_CONTEXT_KEYS')).toEqual([]);
    const known = holdersOf('context_jwks');
    expect(known.filter((name) => !/^(cli|tollgate-.*)$/.test(name))).toEqual([]);
    expect(known).toEqual(expect.arrayContaining(Object.keys(SERVICES).map((name) => `tollgate-${name}`)));
    expect(holdersOf('signing_keys').sort()).toEqual(['plugin-server', ...known].sort());
  });

  it('checks the health of everything that stays up, and waits for the migrations', () => {
    for (const [name, { healthcheck }] of longRunning) expect([name, healthcheck?.test[0]]).toEqual([name, 'CMD']);
    const users = longRunning.filter(([, { secrets }]) => secrets?.includes('signing_keys'));
    for (const [, { depends_on }] of users) expect(depends_on?.['migrate']).toEqual({ condition: 'service_completed_successfully' });
  });

  it('has Kong answer by the templates that the plugin server writes into the folder of its socket', () => {
    const folder = find('plugin-server').environment?.['KONG_TEMPLATES'] ?? '';
    const { environment = {}, volumes = [], depends_on } = find('kong');
    expect(environment).toMatchObject({
      KONG_ERROR_TEMPLATE_JSON: `${folder}/problem.json`,
      KONG_ERROR_TEMPLATE_HTML: `\${KONG_ERROR_TEMPLATE_HTML:-${folder}/problem.html}`,
    });
    expect(volumes).toContain(`plugin-socket:${folder.split('/').slice(0, -1).join('/')}`);
    expect(depends_on?.['plugin-server']).toEqual({ condition: 'service_healthy' });
  });

  it('runs our image and Kong with a root folder that cannot be written', () => {
    expect(ours.length).toBeGreaterThan(15);
    for (const [name, { read_only: readOnly }] of [...ours, ['kong', find('kong')] as const])
      expect([name, readOnly]).toEqual([name, true]);
  });
});

/** What a folder of the seller's own starts: docker-compose.own.yml beside docker-compose.yml. */
describe('TOLLGATE_CONFIG in compose', () => {
  const own = parse(readFileSync(join(ROOT, 'docker-compose.own.yml'), 'utf8')) as Pick<ComposeFile, 'services'>;
  const profilesOf = (name: string): string[] => [...(find(name).profiles ?? []), ...(own.services[name]?.profiles ?? [])];
  /** As compose chooses: what has no profile, and what has one that is asked for. */
  const startedWith = (...asked: string[]): string[] =>
    services.map(([name]) => name).filter((name) => profilesOf(name).length === 0 || profilesOf(name).some((each) => asked.includes(each)));

  const addedBy = (asked: string): string[] => startedWith(asked).filter((name) => !startedWith().includes(name));

  it('is read by every container that reads what is sold, Kong too, and is the example catalogue unless set', () => {
    const sellers = services.map(([name]) => name).filter((name) => /^(dashboard|cli|migrate|tollgate-.*)$/.test(name));
    expect(namesOf(({ volumes }) => volumes?.includes('${TOLLGATE_CONFIG:-./kong}:/etc/tollgate-config:ro'))).toEqual(['kong', ...sellers]);
    expect(find('kong').environment?.['KONG_DECLARATIVE_CONFIG']).toBe('/etc/tollgate-config/kong.yml');
    for (const name of sellers) expect([name, find(name).environment?.['TOLLGATE_CONFIG']]).toEqual([name, '/etc/tollgate-config']);
  });

  it('starts no service, worker or sandbox of the example catalogue with docker-compose.own.yml', () => {
    expect(startedWith().sort()).toEqual(['credentials', 'dashboard', 'kong', 'migrate', 'plugin-server', 'postgres', 'redis']);
    expect(own.services['dashboard']?.environment).toEqual({ DASHBOARD_LIVE_FROM: '${DASHBOARD_LIVE_FROM:-}' });
    const { services: sold } = parse(readFileSync(join(ROOT, 'kong', 'new-folder', 'kong.yml'), 'utf8')) as { services: { url: string }[] };
    for (const { url } of sold) expect(startedWith()).toContain(new URL(url).hostname);
  });

  it('starts with one of its services the workers that it asks and the sandbox, and nothing that waits for another', () => {
    for (const name of SERVICE_NAMES) {
      const workers = workersOf(name).map((worker) => `worker-${worker}`);
      expect(addedBy(name).sort()).toEqual(['sandbox', `tollgate-${name}`, ...workers].sort());
    }
    for (const name of startedWith()) for (const other of Object.keys(find(name).depends_on ?? {})) expect(startedWith()).toContain(other);
  });

  it('has what takes requests back for APIs of the seller’s own, which those can reach', () => {
    expect(addedBy('refunds')).toEqual(['tollgate-refunds']);
    expect(find('tollgate-refunds')).toMatchObject({ command: ['service', 'none'], networks: ['products', 'stores'] });
  });
});

type Env = Readonly<Record<string, string>>;

/** What each step sets. */
interface Rotation {
  readonly signOld: Env;
  readonly believeBoth: Env;
  readonly signNext: Env;
  readonly believeNext: Env;
}

function ofPairs(): Rotation {
  const [old, next] = [createContextKey(), createContextKey()];
  const believe = (...pairs: NewContextKey[]): Env => ({
    TOLLGATE_CONTEXT_JWKS: JSON.stringify({ keys: pairs.flatMap(({ keySet }) => keySet.keys) }),
  });
  return {
    signOld: { TOLLGATE_CONTEXT_PRIVATE_KEY: old.privateKey },
    believeBoth: believe(next, old),
    signNext: { TOLLGATE_CONTEXT_PRIVATE_KEY: next.privateKey },
    believeNext: believe(next),
  };
}

const newShared = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;

function ofSharedKeys(): Rotation {
  const [old, next] = [newShared('old'), newShared('next')];
  return {
    signOld: { TOLLGATE_SIGNING_KEYS: old },
    believeBoth: { TOLLGATE_SIGNING_KEYS: `${old},${next}` },
    signNext: { TOLLGATE_SIGNING_KEYS: `${next},${old}` },
    believeNext: { TOLLGATE_SIGNING_KEYS: next },
  };
}

/** From a shared key to a pair. */
function toPairs(): Rotation {
  const { signNext, believeNext } = ofPairs();
  const old = { TOLLGATE_SIGNING_KEYS: newShared('old') };
  return { signOld: old, believeBoth: { ...old, ...believeNext }, signNext, believeNext };
}

/** What a service of api-vahaan is told of these secrets: the keys of its product, and the public set for proof: eddsa. */
function believeSecrets(secrets: readonly SharedKey[]): Env {
  return {
    TOLLGATE_CONTEXT_KEYS: JSON.stringify(keySetOf(...secrets.map((secret) => deriveProductKey(secret, 'api-vahaan')))),
    TOLLGATE_CONTEXT_JWKS: JSON.stringify(keySetOf(...secrets.map(derivePrivateKey))),
  };
}
const signSecrets = (secrets: readonly SharedKey[]): Env => ({ TOLLGATE_CONTEXT_SECRETS: formatSecrets(secrets) });

function ofSecrets(): Rotation {
  const { secrets: old } = rotateSecrets([]);
  const { secrets: both } = rotateSecrets(old);
  const { secrets: turned } = rotateSecrets(both);
  const { secrets: next } = rotateSecrets(turned);
  return {
    signOld: signSecrets(old),
    believeBoth: believeSecrets(both),
    signNext: signSecrets(turned),
    believeNext: believeSecrets(next),
  };
}

/** From what an instance of an earlier version has, which also is what its programs go on with during a rolling upgrade. */
function toSecrets({ signOld, believeBoth }: Rotation): Rotation {
  const { secrets } = rotateSecrets([]);
  const { TOLLGATE_CONTEXT_KEYS = '' } = believeSecrets(secrets);
  return {
    signOld,
    believeBoth: { ...believeBoth, TOLLGATE_CONTEXT_KEYS },
    // The pair goes on signing for upstreams that verify with it.
    signNext: { ...signOld, ...signSecrets(secrets) },
    believeNext: { TOLLGATE_CONTEXT_KEYS },
  };
}

/** What a plugin server with this environment signs. */
const proofBy = (env: Env): string => signingSettings.parse(env).sign(contextFor('api-vahaan'), 'hs256');
/** Whether a service with this environment believes it. */
const isBelieved = (env: Env, proof: string): boolean =>
  verifyContext(proof, proofSettings.parse(env), { products: ['api-vahaan'], nowSeconds: 0 }).ok;

it.each([
  ['of pairs', ofPairs()],
  ['that are shared', ofSharedKeys()],
  ['that are shared, for a pair', toPairs()],
  ['of one product, that a secret gives', ofSecrets()],
  ['of a pair, for those of products', toSecrets(ofPairs())],
])('keys %s are rotated without one refused proof, in the order services, plugin servers, services', (_kind, rotation) => {
  const [old, next] = [proofBy(rotation.signOld), proofBy(rotation.signNext)];
  expect([isBelieved(rotation.believeBoth, old), isBelieved(rotation.believeBoth, next)]).toEqual([true, true]);
  expect(isBelieved(rotation.believeNext, next)).toBe(true);
  // The order matters, and an old key is worth nothing any more.
  expect(isBelieved(rotation.believeNext, old)).toBe(false);
});
