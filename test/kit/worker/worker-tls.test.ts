import { type ChannelCredentials, Client, credentials, status } from '@grpc/grpc-js';
import { HEALTH_SERVICE } from '../../../services/kit/worker/load-proto';
import { createLog } from '../../../services/kit/log';
import { type WorkerServer } from '../../../services/kit/worker/serve-worker';
import { type WorkerCallOptions, type WorkerClient } from '../../../services/kit/worker/worker-client';
import { type MutualTls } from '../../../services/kit/mutual-tls';
import { createTestAuthority } from '../../support/certificates';
import { contextFor } from '../context';
import { echoClient, type Methods, serveEcho } from './echo-worker';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings, SettingsError } from '../../../plugins/core/settings';
import { workerTlsSettings } from '../../../services/kit/worker/worker-tls';

const ours = createTestAuthority('our authority');
const theirs = createTestAuthority('their authority');
const WORKER = ours.issue('a worker');
const SERVICE = ours.issue('a service');
/** Trusts our authority, but shows a certificate of another. */
const STRANGER: MutualTls = { ...theirs.issue('a stranger'), ca: ours.ca };
const EXPIRED = ours.issue('an old one', { validDays: [-20, -1] });
const NOT_YET = ours.issue('a new one', { validDays: [1, 20] });

const lines: string[] = [];
const log = createLog('echo', { level: 'trace', destination: { write: (line) => void lines.push(line) } });
/** Calls that reached a handler. */
let served = 0;
const opened: { close(): unknown }[] = [];
beforeEach(() => {
  served = 0;
  lines.length = 0;
});
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

async function workerWith(tls: MutualTls | undefined): Promise<WorkerServer> {
  const Say = ({ text }: { text: string }): object => {
    served++;
    return { saidText: text, caller: '' };
  };
  const server = await serveEcho({ Say }, { log, tls });
  opened.push({ close: () => server.close(100) });
  return server;
}

function clientWith(server: WorkerServer, tls: MutualTls | undefined): WorkerClient<Methods> {
  const client = echoClient([server], { tls });
  opened.unshift(client);
  return client;
}

const call: WorkerCallOptions = {
  context: { requestId: 'r-1', proof: contextFor('api-gst'), signal: new AbortController().signal },
  deadlineMs: 30_000,
};
const say = (client: WorkerClient<Methods>): Promise<{ saidText: string }> => client.unary('Say', { text: 'hello' }, call);
const failsWith = (problem: string): unknown => expect.objectContaining({ name: 'ServiceError', problem });

/** Asks grpc.health.v1 with credentials that our own client would never use. @returns the status of its failure */
async function statusFor(server: WorkerServer, by: ChannelCredentials): Promise<number | undefined> {
  const { Check: check } = HEALTH_SERVICE;
  if (!check) throw new Error('no Check');
  const client = new Client(server.address, by);
  opened.unshift(client);
  return new Promise((resolve) =>
    client.makeUnaryRequest(
      check.path,
      check.requestSerialize,
      check.responseDeserialize,
      { service: '' },
      { deadline: Date.now() + 30_000 },
      (error) => resolve(error?.code),
    ),
  );
}

describe('a worker with certificates', () => {
  it('serves a service that shows a certificate of the same authority', async () => {
    const client = clientWith(await workerWith(WORKER), SERVICE);
    expect(await say(client)).toMatchObject({ saidText: 'hello' });
    await client.checkHealth(30_000);
  });

  it('serves services of two authorities while one takes over from the other', async () => {
    const both = Buffer.concat([ours.ca, theirs.ca]);
    const server = await workerWith({ ...WORKER, ca: both });
    for (const own of [SERVICE, STRANGER]) expect(await say(clientWith(server, { ...own, ca: both }))).toMatchObject({ saidText: 'hello' });
  });

  it.each<[string, ChannelCredentials]>([
    ['shows no certificate', credentials.createSsl(ours.ca)],
    ['shows one of another authority', credentials.createSsl(ours.ca, STRANGER.key, STRANGER.cert)],
    ['shows one that has expired', credentials.createSsl(ours.ca, EXPIRED.key, EXPIRED.cert)],
    ['shows one that is not valid yet', credentials.createSsl(ours.ca, NOT_YET.key, NOT_YET.cert)],
    ['speaks in plain text', credentials.createInsecure()],
  ])('refuses who %s, even to tell its health, and goes on serving others', async (_who, by) => {
    const server = await workerWith(WORKER);
    expect(await statusFor(server, by)).toBe(status.UNAVAILABLE);
    expect(await say(clientWith(server, SERVICE))).toMatchObject({ saidText: 'hello' });
  });
});

describe('a service answers 502, and is not ready, when', () => {
  it.each<[string, MutualTls | undefined, MutualTls | undefined]>([
    ['it has no certificate and the worker asks for one', undefined, WORKER],
    ['its certificate is of another authority', STRANGER, WORKER],
    ['its certificate has expired', EXPIRED, WORKER],
    ['the worker shows a certificate of another authority', SERVICE, { ...theirs.issue('a worker'), ca: ours.ca }],
    ['the worker shows one that has expired', SERVICE, EXPIRED],
    ['the worker shows one of another host', SERVICE, ours.issue('elsewhere', { hosts: ['worker.example'] })],
    ['the worker speaks in plain text', SERVICE, undefined],
  ])('%s; the call never gets to the worker, and no key to the log', async (_case, by, of) => {
    const client = clientWith(await workerWith(of), by);
    const failure: unknown = await say(client).catch((error: unknown) => error);
    expect(failure).toEqual(failsWith('upstream_failed'));
    await expect(client.checkHealth(30_000)).rejects.toEqual(failsWith('service_not_ready'));
    expect(served).toBe(0);
    log.error({ err: failure }, 'as a service would');
    const said = lines.join('\n');
    expect(said).toContain('as a service would');
    for (const key of [by?.key, of?.key].filter((each) => each !== undefined)) {
      for (const line of key.toString().trim().split('\n')) expect(said).not.toContain(line);
    }
  });
});

describe('the settings of mutual TLS', () => {
  const authority = createTestAuthority('authority');
  const { ca, cert, key } = authority.issue('a service');
  const another = authority.issue('another');

  let folder: string;
  let files: Record<'ca' | 'cert' | 'key', string>;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'worker-tls-'));
    const write = (name: string, pem: Buffer): string => {
      writeFileSync(join(folder, name), pem);
      return join(folder, name);
    };
    files = { ca: write('ca.pem', ca), cert: write('cert.pem', cert), key: write('key.pem', key) };
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const read = (env: Record<string, string>): MutualTls | undefined => readSettings({ tls: workerTlsSettings }, env).tls;
  const problemsOf = (env: Record<string, string>): readonly string[] => {
    try {
      read(env);
      return [];
    } catch (error) {
      if (error instanceof SettingsError) return error.problems;
      throw error;
    }
  };

  it('without any of the three settings connections are plain', () => {
    expect(read({})).toBeUndefined();
    expect(read({ WORKER_TLS_CA: '', WORKER_TLS_CERT: '', WORKER_TLS_KEY: '' })).toBeUndefined();
  });

  it('each setting is a path or the PEM text itself', () => {
    expect(read({ WORKER_TLS_CA: files.ca, WORKER_TLS_CERT: files.cert, WORKER_TLS_KEY: files.key })).toEqual({ ca, cert, key });
    expect(read({ WORKER_TLS_CA: files.ca, WORKER_TLS_CERT: cert.toString(), WORKER_TLS_KEY: key.toString() })).toEqual({ ca, cert, key });
  });

  it('every setting that is missing beside another is named', () => {
    expect(problemsOf({ WORKER_TLS_KEY: files.key })).toEqual([
      'WORKER_TLS_CA: is required and not set',
      'WORKER_TLS_CERT: is required and not set',
    ]);
    expect(problemsOf({ WORKER_TLS_CA: files.ca, WORKER_TLS_CERT: files.cert })).toEqual(['WORKER_TLS_KEY: is required and not set']);
  });

  it('what cannot be read is told all at once, and never shown', () => {
    const env = { WORKER_TLS_CA: '/no/such/hunter2.pem', WORKER_TLS_CERT: folder, WORKER_TLS_KEY: '-----BEGIN PRIVATE KEY-----\nhunter2' };
    expect(problemsOf(env)).toEqual([
      'WORKER_TLS_CA: names a file that cannot be read (ENOENT)',
      'WORKER_TLS_CERT: names a file that cannot be read (EISDIR)',
      'WORKER_TLS_KEY: does not contain a private key without a passphrase in PEM form',
    ]);
  });

  it('a certificate in place of a key, and a key of another certificate, are refused', () => {
    const env = { WORKER_TLS_CA: files.ca, WORKER_TLS_CERT: files.cert };
    expect(problemsOf({ ...env, WORKER_TLS_KEY: files.cert })).toEqual([
      'WORKER_TLS_KEY: does not contain a private key without a passphrase in PEM form',
    ]);
    expect(problemsOf({ ...env, WORKER_TLS_KEY: another.key.toString() })).toEqual(['WORKER_TLS_KEY: is not the key of WORKER_TLS_CERT']);
    expect(problemsOf({ ...env, WORKER_TLS_CA: files.key, WORKER_TLS_KEY: files.key })).toEqual([
      'WORKER_TLS_CA: does not contain a certificate in PEM form',
    ]);
  });
});
