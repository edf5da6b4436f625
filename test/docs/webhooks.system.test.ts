import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { alertSettings } from '../../services/dashboard/customer/start-alerts';
import { createWebhookMessage } from '../../services/dashboard/customer/webhooks/webhook-message';
import { newFolder } from '../support/run-folder';

const page = readFileSync(join(__dirname, '..', '..', 'services', 'dashboard', 'storefront', 'guides', '50-webhooks.md'), 'utf8');
const run = promisify(execFile);
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
let folder: string;
beforeAll(() => {
  folder = newFolder();
});

function snippet(language: string): string {
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1];
  if (found === undefined) throw new Error(`the page has no snippet in ${language}`);
  return found;
}

/** Each prints a JSON list: whether each of the requests in the file was taken for ours. */
const PROGRAMS = {
  javascript: {
    command: process.execPath,
    file: 'verify.cjs',
    ending: `const cases = JSON.parse(require('node:fs').readFileSync(process.argv[2], 'utf8'));
console.log(JSON.stringify(cases.map(([secret, headers, body]) => isGenuine(secret, headers, Buffer.from(body)))));`,
  },
  python: {
    command: 'python3',
    file: 'verify.py',
    ending: `import json, sys
cases = json.load(open(sys.argv[1], encoding="utf-8"))
print(json.dumps([is_genuine(secret, headers, body.encode()) for secret, headers, body in cases]))`,
  },
} as const;

describe('the page about webhooks', () => {
  it.each(['javascript', 'python'] as const)('shows how to verify a signature in %s', async (language) => {
    const eventAt = new Date('2026-11-20T11:10:00Z');
    const sent = { webhookId: 'w1', url: 'https://hooks.example/', isSellers: false };
    const delivery = { ...sent, secret, eventId: 'e1', eventAt, alert: null, data: null, event: 'test' as const };
    const message = (nowMs: number) => createWebhookMessage(delivery, { timeZone: 'Asia/Kolkata', nowMs });
    const { headers, body } = message(Date.now());
    const old = message(Date.now() - 360_000);
    const cases: [string, Record<string, string>, string][] = [
      [secret, headers, body],
      [otherSecret, headers, body],
      [secret, headers, `${body} `],
      [secret, { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) }, body],
      [secret, { ...headers, 'webhook-signature': 'v1,ü v2,x' }, body],
      [secret, { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` }, body],
      [secret, old.headers, old.body],
      [secret, {}, body],
    ];
    const { command, file, ending } = PROGRAMS[language];
    writeFileSync(join(folder, file), `${snippet(language)}\n${ending}\n`);
    writeFileSync(join(folder, 'cases.json'), JSON.stringify(cases));
    const { stdout } = await run(command, [join(folder, file), join(folder, 'cases.json')], {
      timeout: 20_000,
      env: { ...process.env, NODE_PATH: join(__dirname, '..', '..', 'node_modules') },
    });
    expect(JSON.parse(stdout)).toEqual([true, false, false, false, false, true, false, false]);
  });

  it('names the settings with their defaults', () => {
    const defaults = alertSettings.parse({});
    const sellers = readFileSync(join(__dirname, '..', '..', 'docs', 'seller-webhooks.md'), 'utf8');
    expect(sellers).toContain(`\`DASHBOARD_WEBHOOKS_RETRY_SECONDS\` (\`${defaults.DASHBOARD_WEBHOOKS_RETRY_SECONDS.join(',')}\`)`);
    expect(sellers).toContain(`\`DASHBOARD_WEBHOOKS_ALLOW_PRIVATE\` (\`${String(defaults.DASHBOARD_WEBHOOKS_ALLOW_PRIVATE)}\`;`);
  });
});
