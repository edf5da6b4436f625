import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openParts, openTogether } from './opened';
import { generateApiKey } from '../../plugins/core/access/api-key';
import { checkLogs, findSecrets, noteSecretsOf } from './used-secrets';

it('stops the parts in reverse order', async () => {
  const stopped: string[] = [];
  const parts = openParts();
  for (const name of ['database', 'gateway']) await parts.keep(Promise.resolve(name), (each) => stopped.push(each));
  await parts.close();
  await parts.close();
  expect(stopped).toEqual(['gateway', 'database']);
});

it('stops what is open, and what opens later, when another part cannot be opened', async () => {
  const stopped: string[] = [];
  let open: ((name: string) => void) | undefined;
  const late = new Promise<string>((resolve) => (open = resolve));
  const opening = openTogether(async (parts) => {
    await parts.keep(Promise.resolve('database'), (each) => stopped.push(each));
    await Promise.all([parts.keep(late, (each) => stopped.push(each)), parts.keep(Promise.reject(new Error('no port')), () => undefined)]);
  });
  open?.('gateway');
  await expect(opening).rejects.toThrow('no port');
  expect(stopped).toEqual(['gateway', 'database']);
});

it('stops the others when one cannot be stopped, and says so', async () => {
  const stopped: string[] = [];
  const parts = openParts();
  await parts.keep(Promise.resolve('database'), (each) => stopped.push(each));
  await parts.keep(Promise.resolve('gateway'), () => Promise.reject(new Error('still running')));
  await expect(parts.close()).rejects.toThrow('still running');
  expect(stopped).toEqual(['database']);
});

const key = generateApiKey('test');
const other = generateApiKey('live');
const json = JSON.stringify({ aadhaar: '999999990019', otp: '123456', captcha: 'KX47M', sessionId: 'abcdef123456' });

beforeAll(() => {
  noteSecretsOf({ path: `/ip?a=1&api_key=${key}`, headers: [], body: json });
  noteSecretsOf({ path: '/ip', headers: [['Authorization', `Bearer ${other}`]], body: undefined });
});

describe('a secret that was sent is found', () => {
  it.each([
    ['a key in a URL', () => `"url":"/ip?api_key=${key}"`],
    ['a key of a header', () => `authorization: Bearer ${other}`],
    ['the beginning of a key', () => `key ${key.slice(0, 30)}…`],
    ['an OTP', () => '{"otp":"123456"}'],
    ['an Aadhaar number', () => 'for 999999990019 there'],
    ['an Aadhaar number in groups', () => '9999-9999 0019'],
    ['a captcha', () => 'solved as KX47M'],
  ])('%s', (_, text) => {
    expect(findSecrets(text())).not.toEqual([]);
  });

  it('in a log file, and the complaint does not repeat it', () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-secrets-'));
    try {
      mkdirSync(join(dataDir, 'logs'));
      writeFileSync(join(dataDir, 'logs', 'services.log'), '{"msg":"ok"}\n');
      checkLogs(dataDir);
      writeFileSync(join(dataDir, 'logs', 'worker.log'), `{"msg":"key ${key}"}\n`);
      let complaint = '';
      try {
        checkLogs(dataDir);
      } catch (error) {
        complaint = String(error);
      }
      expect(complaint).toContain('API key');
      expect(complaint).not.toContain(key.slice(8, 24));
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

describe('what only looks alike is not taken for a secret', () => {
  it.each([
    ['a masked key', () => `tg_test_…${key.slice(-4)}`],
    ['digits of an id', () => 'abcdef123456'],
    ['a number', () => '0.1234567'],
  ])('%s', (_, text) => {
    expect(findSecrets(text())).toEqual([]);
  });
});
