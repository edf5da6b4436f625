import { execFile } from 'node:child_process';
import { createHmac, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseKeySet, parsePrivateKey, parseProductKeys, type SharedKey } from '../../plugins/core/proof/context-keys';
import { keySetOf } from '../../plugins/core/proof/create-context-key';
import { deriveProductKey } from '../../plugins/core/proof/product-keys';
import { createContextKeys, verifyContext } from '../../plugins/core/proof/verify-context';
import { ensurePackages } from '../support/debian-packages';
import { fixedPrivateKey } from '../support/proof-keys';
import { newFolder } from '../support/run-folder';
import { alertSettings } from '../../services/dashboard/customer/start-alerts';
import { createWebhookMessage } from '../../services/dashboard/customer/webhooks/webhook-message';
import ts from 'typescript';
import { useDashboard } from '../dashboard/support/dashboard';
import { makeOperator } from '../dashboard/support/operator';
import { makeSellerToken } from '../dashboard/support/seller-token';

const root = join(__dirname, '..', '..');
const folder = newFolder();
const run = promisify(execFile);

/** The first block of code in a language. */
function snippet(page: string, language: string): string {
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1];
  if (found === undefined) throw new Error(`the page has no snippet in ${language}`);
  return found;
}

/** Tokens that programs in any language are tried with. */
interface ContextVectors {
  readonly about: string;
  readonly product: string;
  readonly keySet: { readonly keys: readonly object[] };
  readonly tokens: readonly { readonly name: string; readonly token: string; readonly valid: boolean }[];
}

const PRODUCT = 'api-ip';
/** Tokens of the vectors do not expire within anybody's time; those of a gateway live for a minute. */
const FAR = Date.UTC(2100, 0, 1) / 1000;
const SIGNED_AT = Date.UTC(2026, 10, 22) / 1000;

const [first, second, stranger] = [1, 2, 3].map((seed) => parsePrivateKey(fixedPrivateKey(`vector-${seed}`, seed))) as [Key, Key, Key];
type Key = ReturnType<typeof parsePrivateKey>;
const [oldSecret, newSecret, otherSecret] = ['1', '2', '1'].map((id, seed) => ({ id, secret: Buffer.alloc(32, seed) })) as [
  SharedKey,
  SharedKey,
  SharedKey,
];
const [ownOld, ownNew, ownOther] = [oldSecret, newSecret, otherSecret].map((each) => deriveProductKey(each, PRODUCT)) as [Key, Key, Key];
/** As a program has it that answers for two products. */
const foreign = deriveProductKey(oldSecret, 'api-gst');

const CLAIMS = {
  iss: 'tollgate',
  aud: PRODUCT,
  sub: '0197f0a2-0000-7000-8000-000000000001',
  key: '0197f0a2-0000-7000-8000-000000000002',
  sub_id: '0197f0a2-0000-7000-8000-000000000003',
  product: PRODUCT,
  mode: 'live',
  ip: '203.0.113.7',
  day: '2026-11-22',
  quota: {
    daily: { limit: 1_000, remaining: 998, reset: 1_795_372_200, window: 86_400 },
    monthly: { limit: 30_000, remaining: 29_998, reset: 1_796_063_400, window: 2_592_000 },
  },
  iat: SIGNED_AT,
  exp: FAR,
  jti: '2c7a5b1d0e4f4c6c9b6a8d2f1e3c5a7b',
};

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const headerOf = ({ id, algorithm }: Key): object => ({ alg: algorithm, typ: 'JWT', kid: id });

function tokenOf(claims: object, key: Key = first, header = headerOf(key)): string {
  const input = `${encode(header)}.${encode(claims)}`;
  const signature =
    key.algorithm === 'EdDSA' ? sign(null, Buffer.from(input), key.key) : createHmac('sha256', key.key).update(input).digest();
  return `${input}.${signature.toString('base64url')}`;
}

/** Signed with HMAC, the public key as its secret. */
function confusedToken(publicKey: string, kid = first.id): string {
  const input = `${encode({ alg: 'HS256', typ: 'JWT', kid })}.${encode(CLAIMS)}`;
  return `${input}.${createHmac('sha256', Buffer.from(publicKey, 'base64url')).update(input).digest('base64url')}`;
}

function refusedTokens(publicKey: string): Record<string, string> {
  const good = tokenOf(CLAIMS);
  const [header = '', , signature = ''] = good.split('.');
  return {
    'claims changed': `${header}.${encode({ ...CLAIMS, sub: 'somebody-else' })}.${signature}`,
    'signature changed': `${good.slice(0, -8)}AAAAAAA${good.slice(-1)}`,
    'signature missing': `${good.slice(0, good.lastIndexOf('.'))}.`,
    'two parts': good.slice(0, good.lastIndexOf('.')),
    'another product': tokenOf({ ...CLAIMS, aud: 'api-gst', product: 'api-gst' }),
    'another issuer': tokenOf({ ...CLAIMS, iss: 'somebody' }),
    expired: tokenOf({ ...CLAIMS, iat: SIGNED_AT, exp: SIGNED_AT + 60 }),
    'key that the set does not hold': tokenOf(CLAIMS, stranger),
    'foreign key under a kid of the set': tokenOf(CLAIMS, stranger, headerOf(first)),
    'no algorithm': `${encode({ alg: 'none', typ: 'JWT', kid: first.id })}.${encode(CLAIMS)}.`,
    'HMAC with the public key as its secret': confusedToken(publicKey),
    'HMAC with the public key as its secret, under the kid of the product': confusedToken(publicKey, ownOld.id),
    'HMAC, claims changed': `${encode(headerOf(ownOld))}.${encode({ ...CLAIMS, sub: 'somebody-else' })}.${tokenOf(CLAIMS, ownOld).split('.')[2] ?? ''}`,
    'HMAC, signature cut short': tokenOf(CLAIMS, ownOld).slice(0, -4),
    'HMAC, another product': tokenOf({ ...CLAIMS, aud: 'api-gst', product: 'api-gst' }, ownOld),
    'HMAC, expired': tokenOf({ ...CLAIMS, iat: SIGNED_AT, exp: SIGNED_AT + 60 }, ownOld),
    'HMAC with the key of another product': tokenOf(CLAIMS, foreign),
    'HMAC with another secret': tokenOf(CLAIMS, ownOther),
    'no algorithm, under the kid of the product': `${encode({ alg: 'none', typ: 'JWT', kid: ownOld.id })}.${encode(CLAIMS)}.`,
    'the public key’s kid, signed with the secret of the product': tokenOf(CLAIMS, ownOld, { alg: 'HS256', typ: 'JWT', kid: first.id }),
    'the kid of the product, signed with the private key': tokenOf(CLAIMS, first, { alg: 'EdDSA', typ: 'JWT', kid: ownOld.id }),
    empty: '',
  };
}

/** The same in every run: Ed25519 and HMAC have one signature for one text. */
function createContextVectors(): ContextVectors {
  const publicKeys = keySetOf(first, second).keys;
  const secretKeys = keySetOf(ownOld, ownNew, foreign).keys;
  parseKeySet(JSON.stringify({ keys: publicKeys }));
  parseProductKeys(JSON.stringify({ keys: secretKeys }));
  const valid = {
    'signed with the first key': tokenOf(CLAIMS),
    'signed with the second key': tokenOf(CLAIMS, second),
    'HMAC with the key of the product': tokenOf(CLAIMS, ownOld),
    'HMAC with the next key of the product': tokenOf(CLAIMS, ownNew),
    'of a test key, nothing charged, a caller with an IPv6 address': tokenOf({
      ...CLAIMS,
      mode: 'test',
      day: null,
      quota: null,
      ip: '2001:db8::7',
    }),
  };
  const list = (tokens: Record<string, string>, isValid: boolean): ContextVectors['tokens'] =>
    Object.entries(tokens).map(([name, token]) => ({ name, token, valid: isValid }));
  return {
    about: 'Tokens for docs/verify-context.md. Those of a gateway expire after 60 s; these valid ones in 2100, so that any clock will do.',
    product: PRODUCT,
    keySet: { keys: [...publicKeys, ...secretKeys] },
    tokens: [...list(valid, true), ...list(refusedTokens(String(publicKeys[0]?.x)), false)],
  };
}

const vectorsFile = join(root, 'test', 'fixtures', 'context-vectors.json');
const vectors = JSON.parse(readFileSync(vectorsFile, 'utf8')) as ContextVectors;
const wanted = Object.fromEntries(vectors.tokens.map(({ name, valid }) => [name, valid ? '0197f0a2-0000-7000-8000-000000000001' : null]));

beforeAll(async () => {
  const python = ['jwt', 'cryptography'] as const;
  const files = python.map((name) => `/usr/lib/python3/dist-packages/${name}/__init__.py` as const);
  await ensurePackages(['python3', ...files], 'The examples of docs/verify-context.md');
});

interface Program {
  readonly command: string;
  readonly example: string;
  readonly file: string;
  /** Prints a JSON object: by the name of each vector the `sub` of its claims, or null. */
  readonly ending: string;
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  javascript: {
    command: process.execPath,
    example: 'verify_context.cjs',
    file: 'verify.cjs',
    ending: `const vectors = JSON.parse(require('node:fs').readFileSync(process.argv[2], 'utf8'));
const results = vectors.tokens.map(({ name, token }) => [name, verifyContext(token, vectors.keySet, vectors.product)?.sub ?? null]);
console.log(JSON.stringify(Object.fromEntries(results)));`,
  },
  python: {
    // Debian's own, which Debian's packages belong to.
    command: '/usr/bin/python3',
    example: 'verify_context.py',
    file: 'verify.py',
    ending: `import sys
vectors = json.load(open(sys.argv[1], encoding="utf-8"))
results = {each["name"]: verify_context(each["token"], vectors["keySet"], vectors["product"]) for each in vectors["tokens"]}
print(json.dumps({name: claims and claims["sub"] for name, claims in results.items()}))`,
  },
};

describe('the page about verifying proofs', () => {
  const page = readFileSync(join(root, 'docs', 'verify-context.md'), 'utf8');

  for (const [language, { command, example, file, ending }] of Object.entries(PROGRAMS)) {
    it(`shows how to do it in ${language}`, async () => {
      expect(page).toContain(`(examples/${example})`);
      const text = readFileSync(join(root, 'docs', 'examples', example), 'utf8');
      writeFileSync(join(folder, file), `${text}\n${ending}\n`);
      const { stdout } = await run(command, [join(folder, file), vectorsFile], { timeout: 120_000 });
      expect(JSON.parse(stdout)).toEqual(wanted);
    });
  }

  it('has vectors as its generator writes them', () => {
    expect(vectors).toEqual(createContextVectors());
  });

  it('has vectors that the services of this project judge alike', () => {
    const ofType = (type: string): string =>
      JSON.stringify({ keys: vectors.keySet.keys.filter((key) => 'kty' in key && key.kty === type) });
    const keys = createContextKeys([...parseKeySet(ofType('OKP')), ...parseProductKeys(ofType('oct'))], []);
    const expected = { products: [vectors.product], nowSeconds: Date.now() / 1000 };
    const verdicts = vectors.tokens.map(({ name, token }) => {
      const verdict = verifyContext(token, keys, expected);
      return [name, verdict.ok ? verdict.context.customerId : null];
    });
    expect(Object.fromEntries(verdicts)).toEqual(wanted);
  });
});

describe('the page about webhooks', () => {
  const page = readFileSync(join(root, 'services/dashboard/storefront/guides/50-webhooks.md'), 'utf8');
  const [secret, otherSecret] = [7, 8].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [string, string];

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
    writeFileSync(join(folder, file), `${snippet(page, language)}\n${ending}\n`);
    writeFileSync(join(folder, 'cases.json'), JSON.stringify(cases));
    const { stdout } = await run(command, [join(folder, file), join(folder, 'cases.json')], {
      timeout: 20_000,
      env: { ...process.env, NODE_PATH: join(root, 'node_modules') },
    });
    expect(JSON.parse(stdout)).toEqual([true, false, false, false, false, true, false, false]);
  });

  it('names the settings with their defaults', () => {
    const defaults = alertSettings.parse({});
    const sellers = readFileSync(join(root, 'docs', 'seller-webhooks.md'), 'utf8');
    expect(sellers).toContain(`\`DASHBOARD_WEBHOOKS_RETRY_SECONDS\` (\`${defaults.DASHBOARD_WEBHOOKS_RETRY_SECONDS.join(',')}\`)`);
    expect(sellers).toContain(`\`DASHBOARD_WEBHOOKS_ALLOW_PRIVATE\` (\`${String(defaults.DASHBOARD_WEBHOOKS_ALLOW_PRIVATE)}\`;`);
  });
});

describe('the page about the seller’s API', () => {
  const page = readFileSync(join(root, 'docs', 'seller-api.md'), 'utf8');
  const dashboard = useDashboard();
  let url: string;
  let token: string;
  beforeAll(async () => {
    url = await dashboard.app.listen({ host: '127.0.0.1', port: 0 });
    ({ secret: token } = await makeSellerToken(dashboard, (await makeOperator(dashboard)).cookie));
  });

  const programs = {
    sh: () => ['bash', ['-euc', snippet(page, 'sh')]] as const,
    ts: () => {
      const { outputText } = ts.transpileModule(snippet(page, 'ts'), {
        compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
      });
      const file = join(folder, 'customer.mjs');
      writeFileSync(file, outputText);
      return [process.execPath, [file]] as const;
    },
  };

  it.each(['sh', 'ts'] as const)('makes a customer with a key in three calls: %s', async (language) => {
    const email = `${language}@backend.example`;
    const [command, args] = programs[language]();
    const env = { PATH: process.env['PATH'], DASHBOARD: url, TOKEN: token, EMAIL: email, PRODUCT: 'api-ip' };
    const { stdout } = await run(command, args, { env, timeout: 30_000 });
    expect(stdout).toMatch(/tg_test_\w+/);
    const { rows } = await dashboard.pool.query<{ products: string[]; subscribed: string[] }>(
      `SELECT array(SELECT product_id FROM credential_product p JOIN credential k ON k.id = p.credential_id WHERE k.customer_id = c.id) AS products,
         array(SELECT product_id FROM subscription s WHERE s.customer_id = c.id) AS subscribed
       FROM customer c WHERE email = $1`,
      [email],
    );
    expect(rows).toEqual([{ products: ['api-ip'], subscribed: ['api-ip'] }]);
  });
});
