import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings, SettingsError } from '../../../plugins/core/settings';
import { workerTlsSettings } from '../../../services/kit/worker/worker-tls';
import { type MutualTls } from '../../../services/kit/mutual-tls';
import { createTestAuthority } from '../../support/certificates';

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
