import { readdirSync, readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { tmpdir } from 'node:os';
import { writeKongTemplates } from '../../cli/container/kong-templates';
import { projectRoot } from '../support/project-root';

const FOLDER = resolve(__dirname, '..', '..', 'kong', 'kubernetes');

interface Container {
  name: string;
  image: string;
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef?: { key: string }; configMapKeyRef?: object } }[];
  ports?: { name: string; containerPort: number }[];
  securityContext?: { readOnlyRootFilesystem?: boolean; allowPrivilegeEscalation?: boolean };
  startupProbe?: object;
  livenessProbe?: object;
  readinessProbe?: object;
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
}

interface PodSpec {
  enableServiceLinks?: boolean;
  securityContext: { runAsNonRoot?: boolean };
  initContainers?: (Container & { restartPolicy?: string })[];
  containers: Container[];
  volumes?: { name: string; configMap?: { name: string } }[];
}

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: {
    template?: { metadata?: { labels?: Record<string, string> }; spec: PodSpec };
    selector?: { matchLabels?: Record<string, string> };
    ports?: { port: number }[];
    podSelector?: { matchLabels?: Record<string, string> };
    ingress?: { from?: object[]; ports: { port: number }[] }[];
  };
}

function read(folder: string): Manifest[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => parseAllDocuments(readFileSync(join(folder, name), 'utf8')))
    .map((document) => {
      expect(document.errors).toEqual([]);
      return document.toJS() as Manifest;
    });
}

/** What `kubectl apply -f kong/kubernetes/` applies, whoever sells what. */
const always = read(FOLDER);
const manifests = [...always, ...read(join(FOLDER, 'example'))];
const ofKind = (kind: string): Manifest[] => manifests.filter((manifest) => manifest.kind === kind);
const podOf = (manifest: Manifest): PodSpec => {
  if (!manifest.spec.template) throw new Error(`${manifest.metadata.name} has no pod`);
  return manifest.spec.template.spec;
};
const containersOf = (pod: PodSpec): Container[] => [...(pod.initContainers ?? []), ...pod.containers];
const containersIn = (some: Manifest[]): Container[] => some.flatMap((each) => (each.spec.template ? containersOf(podOf(each)) : []));

function podOfKong(): PodSpec {
  const kong = ofKind('Deployment').find(({ metadata }) => metadata.name === 'kong');
  if (!kong) throw new Error('there is no Kong');
  return podOf(kong);
}

describe('the Kubernetes example', () => {
  it('has probes for everything that stays up, and a disruption budget', () => {
    const budgets = ofKind('PodDisruptionBudget').map(({ metadata }) => metadata.name);
    for (const deployment of ofKind('Deployment')) {
      expect(budgets).toContain(deployment.metadata.name);
      for (const container of containersOf(podOf(deployment))) {
        expect([container.name, Boolean(container.startupProbe), Boolean(container.livenessProbe)]).toEqual([container.name, true, true]);
      }
      for (const container of podOf(deployment).containers)
        expect([container.name, Boolean(container.readinessProbe)]).toEqual([container.name, true]);
    }
  });

  it('runs nothing as root, with root folders that cannot be written and images of one version', () => {
    const pods = [...ofKind('Deployment'), ...ofKind('Job')].map(podOf);
    expect(pods.every(({ securityContext }) => securityContext.runAsNonRoot === true)).toBe(true);
    for (const { securityContext, image } of pods.flatMap(containersOf)) {
      expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
      expect(image).toMatch(/:\d+\.\d+(\.\d+)?$/);
    }
  });

  it('puts a plugin server beside each Kong, started before it, on a socket that both reach', () => {
    const pod = podOfKong();
    const [sidecar] = pod.initContainers ?? [];
    expect([sidecar?.args, sidecar?.restartPolicy]).toEqual([['plugin-server'], 'Always']);
    for (const container of containersOf(pod)) {
      expect(container.volumeMounts).toContainEqual({ name: 'plugin-socket', mountPath: '/var/run/tollgate' });
      // An emptyDir can be written by every user.
      expect(container.env).toContainEqual({ name: expect.stringMatching(/SOCKET$/), value: '/var/run/tollgate/own/plugin.sock' });
    }
  });

  it('has Kong answer by the templates that the plugin server writes, with the dashboard’s address, on the volume that both reach', () => {
    const { initContainers: [server] = [], containers: [kong] = [] } = podOfKong();
    const valueOf = (container: Container | undefined, name: string): string | undefined =>
      container?.env?.find((each) => each.name === name)?.value;
    const folder = valueOf(server, 'KONG_TEMPLATES') ?? '';
    const address = server?.env?.find(({ name }) => name === 'DASHBOARD_URL');
    expect(address?.valueFrom?.configMapKeyRef).toMatchObject({ name: 'dashboard', key: 'url' });
    const files = { JSON: 'problem.json', HTML: 'problem.html', XML: 'problem.xml', PLAIN: 'problem.plain.txt' };
    for (const [form, file] of Object.entries(files)) expect(valueOf(kong, `KONG_ERROR_TEMPLATE_${form}`)).toBe(`${folder}/${file}`);
    const mounts = [server, kong].map((each) => each?.volumeMounts?.find(({ name }) => name === 'plugin-socket')?.mountPath);
    expect(mounts).toEqual(Array(2).fill(folder.split('/').slice(0, -1).join('/')));
  });

  it('gives each process the database role that it needs, and the owner to the migration alone', () => {
    const keys = containersIn(manifests).flatMap(({ args = [], env = [] }) => {
      const from = env.find(({ name }) => name === 'DATABASE_URL')?.valueFrom?.secretKeyRef;
      return from ? [[args[0], from.key]] : [];
    });
    expect(Object.fromEntries(keys)).toEqual({
      'plugin-server': 'plugin_database_url',
      dashboard: 'dashboard_database_url',
      service: 'service_database_url',
      migrate: 'database_url',
    });
    const created = readFileSync(join(FOLDER, 'kong.yaml'), 'utf8');
    for (const [, key] of keys) expect(created).toContain(`--from-literal=${key}=`);
  });

  it('has a network policy for every port of every pod, and keeps metrics and status from callers', () => {
    const policies = ofKind('NetworkPolicy').map(({ spec }) => spec);
    const openTo = (labels: Record<string, string>, port: number): unknown[] =>
      policies
        .filter(({ podSelector }) => Object.entries(podSelector?.matchLabels ?? {}).every(([name, value]) => labels[name] === value))
        .flatMap(({ ingress = [] }) =>
          ingress.filter(({ ports }) => ports.some((each) => each.port === port)).map(({ from }) => from ?? 'all'),
        );
    for (const deployment of ofKind('Deployment')) {
      const labels = deployment.spec.template?.metadata?.labels ?? {};
      const ports = containersOf(podOf(deployment)).flatMap((container) => container.ports ?? []);
      for (const { name, containerPort } of ports) {
        const peers = openTo(labels, containerPort);
        expect([deployment.metadata.name, name, peers.length > 0]).toEqual([deployment.metadata.name, name, true]);
        const isPublic = peers.includes('all');
        expect([deployment.metadata.name, name, isPublic]).toEqual([
          deployment.metadata.name,
          name,
          name === 'proxy' || (name === 'http' && deployment.metadata.name === 'dashboard'),
        ]);
      }
    }
  });

  it('lets no Service set a variable of a pod: one called sandbox would set SANDBOX_PORT to a URL', () => {
    const pods = manifests.filter(({ spec }) => spec.template).map(podOf);
    expect(pods.length).toBeGreaterThan(5);
    expect(pods.map(({ enableServiceLinks }) => enableServiceLinks)).toEqual(pods.map(() => false));
  });

  it('has a Service for every host that another part is told to call', () => {
    const services = new Map(
      ofKind('Service').map(({ metadata, spec }) => [metadata.name, (spec.ports ?? []).map(({ port }) => String(port))]),
    );
    const values = containersIn(manifests).flatMap(({ env = [] }) => env);
    const called = values
      .filter(({ name, value }) => /_URL$/.test(name) && value !== undefined)
      .map(({ value = '' }) => value.replace(/^http:\/\//, ''));
    expect(called.length).toBeGreaterThan(0);
    for (const target of called) {
      const [host = '', port = ''] = target.split(':');
      expect([host, services.get(host)?.includes(port)]).toEqual([host, true]);
    }
  });

  it('sells what stands in the seller’s folder: every part that reads it has the same files, and Kong too', () => {
    const readers = manifests.flatMap((each) => {
      const pod = each.spec.template && podOf(each);
      return (pod?.volumes ?? []).some(({ configMap }) => configMap?.name === 'sold') && pod ? [pod] : [];
    });
    const roles = readers.flatMap(({ containers }) => containers.map(({ name, args = [] }) => args.join(' ') || name));
    expect(roles).toEqual(['dashboard', 'kong', 'migrate', 'service none', 'service gst', 'service ip']);
    for (const { name, env, volumeMounts } of readers.flatMap(({ containers }) => containers)) {
      expect(volumeMounts).toContainEqual({ name: 'sold', mountPath: '/etc/tollgate-config', readOnly: true });
      expect(env).toContainEqual(
        name === 'kong'
          ? { name: 'KONG_DECLARATIVE_CONFIG', value: '/etc/tollgate-config/kong.yml' }
          : { name: 'TOLLGATE_CONFIG', value: '/etc/tollgate-config' },
      );
    }
  });

  it('starts no service, worker or sandbox of the example catalogue unless its folder is applied', () => {
    const started = containersIn(always).map(({ name, args = [] }) => args.join(' ') || name);
    expect(started.sort()).toEqual(['dashboard', 'kong', 'migrate', 'plugin-server', 'service none']);
    const { services } = parse(readFileSync(join(FOLDER, '..', 'new-folder', 'kong.yml'), 'utf8')) as { services: { url: string }[] };
    const hosts = always.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name);
    for (const { url } of services) expect(hosts).toContain(new URL(url).hostname);
  });

  it('gives what signs proofs to plugin servers alone', () => {
    const holders = containersIn(manifests).filter(({ env = [] }) =>
      env.some(({ name }) => /PRIVATE_KEY|CONTEXT_SECRETS|SIGNING_KEYS/.test(name)),
    );
    expect(holders.map(({ args }) => args)).toEqual([['plugin-server']]);
  });

  it('gives each service the keys of its own products', () => {
    const services = containersIn(manifests).flatMap(({ args: [role, name] = [], env = [] }) =>
      env.filter((each) => each.name === 'TOLLGATE_CONTEXT_KEYS').map((each) => ({ role, name, ...each.valueFrom })),
    );
    expect(services.map(({ role, name }) => [role, name])).toEqual([
      ['service', 'gst'],
      ['service', 'ip'],
    ]);
    for (const { name, secretKeyRef } of services) expect(secretKeyRef).toEqual({ name: 'product-keys', key: name });
  });

  it('lets the dashboard alone know by whom people sign in, with their secrets from a secret, and starts it without either', () => {
    const containers = containersIn(manifests);
    const told = containers.filter(({ env = [] }) => env.some(({ name }) => name.startsWith('DASHBOARD_SIGN_IN')));
    expect(told.map(({ args }) => args)).toEqual([['dashboard']]);
    const settings = told.flatMap(({ env = [] }) => env).filter(({ name }) => name.startsWith('DASHBOARD_SIGN_IN'));
    expect(settings).toEqual([
      { name: 'DASHBOARD_SIGN_IN', valueFrom: { configMapKeyRef: { name: 'dashboard', key: 'sign_in', optional: true } } },
      { name: 'DASHBOARD_SIGN_IN_SECRETS', valueFrom: { secretKeyRef: { name: 'dashboard', key: 'sign_in_secrets', optional: true } } },
    ]);
  });

  it('holds no secret', () => {
    const secret = /(SIGNING_KEYS|CONTEXT_SECRETS|CONTEXT_KEYS|PRIVATE_KEY|PASSWORD|TOKEN|_SECRETS?|DATABASE_URL|REDIS_URL|SMTP_URL)$/;
    const env = containersIn(manifests).flatMap(({ env: list = [] }) => list);
    const held = env.filter(({ name }) => secret.test(name));
    expect(held.length).toBeGreaterThan(0);
    expect(held.filter(({ value }) => value !== undefined)).toEqual([]);
    expect(ofKind('Secret')).toEqual([]);
    for (const { name, valueFrom } of env.filter((each) => each.name.endsWith('PRIVATE_KEY')))
      expect([name, valueFrom]).toEqual([name, { secretKeyRef: expect.anything() as object }]);
  });
});

describe('the templates of Kong', () => {
  const from = join(projectRoot, 'kong/templates');
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'templates-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const written = (env: Record<string, string>, name: string): string => {
    const to = join(folder, 'templates');
    writeKongTemplates({ from, to, env });
    expect(readdirSync(to).sort()).toEqual(readdirSync(from).sort());
    return readFileSync(join(to, name), 'utf8');
  };

  describe('what Kong answers by itself in compose', () => {
    it('leads to the page of its code and to the page that explains, and keeps Kong’s two places', () => {
      const env = { DASHBOARD_URL: 'https://keys.example.com' };
      const problem = written(env, 'problem.json');
      expect(JSON.parse(problem)).toMatchObject({
        type: 'https://keys.example.com/reference/errors#gateway_error',
        help: 'https://keys.example.com/explain',
      });
      expect(problem.match(/%./g)).toEqual(['%s', '%s']);
      const page = written(env, 'problem.html');
      expect(page).toContain('<a href="https://keys.example.com/explain">What happened to this request</a>');
      expect(page.match(/%s/g)).toHaveLength(2);
    });

    it('is as shipped where no address is known', () => {
      for (const name of readdirSync(from)) expect(written({}, name)).toBe(readFileSync(join(from, name), 'utf8'));
    });

    it('is not written with an address that is none', () => {
      expect(() => written({ DASHBOARD_URL: 'keys.example.com' }, 'problem.json')).toThrow('DASHBOARD_URL');
    });
  });
});
