import { type LightMyRequestResponse } from 'fastify';
import { cookieOf, PASSWORD, startDashboard, type TestDashboard, useDashboard, verdict } from '../support/dashboard';
import { secretOf, totpOf } from '../support/totp';
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { z } from 'zod';

/** What a device may be told to do wrong. */
interface Wrong {
  /** The page that asks, as the browser says it. */
  readonly origin?: string;
  readonly domain?: string;
  readonly challenge?: string;
  /** False: nobody was asked for a fingerprint or PIN. */
  readonly isVerified?: boolean;
  /** Of another device. */
  readonly signedBy?: KeyObject;
}

const creationOptions = z.object({ challenge: z.string(), rp: z.object({ id: z.string() }) });
const requestOptions = z.object({ challenge: z.string(), rpId: z.string() });

const PRESENT = 0x01;
const VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const hash = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

/** A device with one passkey, in software: what a browser with a fingerprint reader answers, and what a forger would. */
class SoftwarePasskey {
  readonly id = text(randomBytes(16));
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  private uses = 0;

  constructor(private readonly page: string) {}

  get privateKey(): KeyObject {
    return this.keys.privateKey;
  }

  /** Answers what registering asks, as `RegistrationResponseJSON`. */
  create(asked: unknown, wrong: Wrong = {}): Record<string, unknown> {
    const { challenge, rp } = creationOptions.parse(asked);
    const id = Buffer.from(this.id, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const authData = Buffer.concat([this.head(rp.id, HAS_CREDENTIAL, wrong), Buffer.alloc(16), length, id, this.publicKey()]);
    const attestationObject = isoCBOR.encode(
      new Map<string, string | Map<string, string> | Uint8Array>([
        ['fmt', 'none'],
        ['attStmt', new Map<string, string>()],
        ['authData', new Uint8Array(authData)],
      ]),
    );
    const response = { clientDataJSON: text(this.clientData('webauthn.create', challenge, wrong)), transports: ['internal'] };
    return this.credential({ ...response, attestationObject: text(attestationObject) });
  }

  /** Answers what signing in asks, as `AuthenticationResponseJSON`. */
  get(asked: unknown, wrong: Wrong = {}): Record<string, unknown> {
    const { challenge, rpId } = requestOptions.parse(asked);
    this.uses += 1;
    const authenticatorData = this.head(rpId, 0, wrong);
    const clientData = this.clientData('webauthn.get', challenge, wrong);
    const signature = sign('sha256', Buffer.concat([authenticatorData, hash(clientData)]), wrong.signedBy ?? this.keys.privateKey);
    return this.credential({
      clientDataJSON: text(clientData),
      authenticatorData: text(authenticatorData),
      signature: text(signature),
      userHandle: text(Buffer.from('whoever')),
    });
  }

  private credential(response: Record<string, unknown>): Record<string, unknown> {
    return { id: this.id, rawId: this.id, type: 'public-key', authenticatorAttachment: 'platform', clientExtensionResults: {}, response };
  }

  private clientData(type: string, challenge: string, wrong: Wrong): Buffer {
    const origin = wrong.origin ?? this.page;
    return Buffer.from(JSON.stringify({ type, challenge: wrong.challenge ?? challenge, origin, crossOrigin: false }));
  }

  /** Whom it answers, what it checked, and how often it was used. */
  private head(domain: string, flags: number, { domain: other, isVerified = true }: Wrong): Buffer {
    const uses = Buffer.alloc(4);
    uses.writeUInt32BE(this.uses);
    return Buffer.concat([hash(other ?? domain), Buffer.from([flags | PRESENT | (isVerified ? VERIFIED : 0)]), uses]);
  }

  /** In COSE: an elliptic curve key (2) of P-256 (1) for ES256 (-7). */
  private publicKey(): Buffer {
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' });
    const bytes = (part: string): Uint8Array => new Uint8Array(Buffer.from(part, 'base64url'));
    const key = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ]);
    return Buffer.from(isoCBOR.encode(key));
  }
}

const PAGE = 'https://dashboard.example.com';
const EMAIL = 'asha@example.com';
const OTHER = 'birk@example.com';
const WRONG: readonly Wrong[] = [
  { origin: 'https://dashboard.example.net' },
  { domain: 'example.net' },
  { challenge: 'bm90IGFza2Vk' },
  { isVerified: false },
];

const dashboard = useDashboard({ url: PAGE }, true);

const post = (path: string, body: unknown, cookie?: string, headers?: Record<string, string>) =>
  dashboard.ask({ method: 'POST', path: `/api${path}`, body, cookie, ...(headers && { headers }) });
const hasSession = ({ cookies }: LightMyRequestResponse) =>
  cookies.some(({ name, value }) => name.includes('session_token') && value !== '');
const session = async (cookie: string) => dashboard.ask({ path: '/api/session', cookie });
const ways = async (cookie: string) => (await dashboard.ask({ path: '/api/account/ways', cookie })).json();
const actions = async () => {
  const { rows } = await dashboard.pool.query<{ action: string; details: unknown }>(
    "SELECT action, details FROM audit_log WHERE action LIKE 'account.%' ORDER BY id",
  );
  return rows.map(({ action, details }) => [action, details]);
};

/** @returns what the device is asked, and the cookies of the browser with the one that goes with it */
async function beginToAdd(cookie: string) {
  const asked = await post('/account/passkeys/options', { password: PASSWORD }, cookie);
  expect(asked.statusCode).toBe(200);
  return { asked: asked.json(), cookie: `${cookie}; ${cookieOf(asked)}` };
}

async function add(device: SoftwarePasskey, cookie: string, wrong: Wrong = {}): Promise<LightMyRequestResponse> {
  const begun = await beginToAdd(cookie);
  return post('/account/passkeys', { name: 'Laptop', response: device.create(begun.asked, wrong) }, begun.cookie);
}

async function beginToSignIn() {
  const asked = await post('/auth/sign-in/passkey/options', {});
  expect(asked.statusCode).toBe(200);
  return { asked: asked.json(), cookie: cookieOf(asked) };
}

async function signIn(device: SoftwarePasskey, wrong: Wrong = {}): Promise<LightMyRequestResponse> {
  const begun = await beginToSignIn();
  return post('/auth/sign-in/passkey', { response: device.get(begun.asked, wrong) }, begun.cookie);
}

/** A device whose passkey opens the account. */
async function own(email = EMAIL): Promise<{ device: SoftwarePasskey; cookie: string }> {
  const cookie = await dashboard.signIn(email);
  const device = new SoftwarePasskey(PAGE);
  expect((await add(device, cookie)).statusCode).toBe(200);
  return { device, cookie };
}

describe('adding a passkey', () => {
  it('takes the password, names it, is in the audit log, and its owner is told by mail', async () => {
    const { cookie } = await own();
    expect((await ways(cookie)).passkeys).toEqual([
      { id: expect.any(String), name: 'Laptop', createdAt: expect.any(String), lastUsedAt: null },
    ]);
    expect(await actions()).toContainEqual(['account.passkey_add', { passkey: 'Laptop' }]);
    const mail = dashboard.mails.at(-1);
    expect([mail?.to, mail?.subject]).toEqual([EMAIL, 'A passkey was added to your Tollgate account']);
    for (const password of ['not the password', undefined]) {
      expect(verdict(await post('/account/passkeys/options', { password }, cookie))).toBe('400 invalid_password');
    }
  });

  it('asks the device to check who is there, to keep the passkey, and for no attestation', async () => {
    const { asked } = await beginToAdd(await dashboard.signIn(EMAIL));
    expect(asked).toMatchObject({
      rp: { id: 'dashboard.example.com', name: 'Tollgate' },
      user: { name: EMAIL },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  });

  it('refuses an answer of another page or domain, to another challenge, or that checked nobody', async () => {
    const cookie = await dashboard.signIn(EMAIL);
    for (const wrong of WRONG) {
      const expected = 'isVerified' in wrong ? '400 person_unverified' : '400 passkey_unfit';
      expect([wrong, verdict(await add(new SoftwarePasskey(PAGE), cookie, wrong))]).toEqual([wrong, expected]);
    }
    expect((await ways(cookie)).passkeys).toEqual([]);
  });

  it('takes each answer once, from the account that asked, and not without having asked', async () => {
    const cookie = await dashboard.signIn(EMAIL);
    const begun = await beginToAdd(cookie);
    const response = new SoftwarePasskey(PAGE).create(begun.asked);
    expect(verdict(await post('/account/passkeys', { name: 'Laptop', response }, cookie))).toBe('400 passkey_expired');
    const other = await dashboard.signIn(OTHER);
    const challenge = begun.cookie.slice(cookie.length);
    expect((await post('/account/passkeys', { name: 'Laptop', response }, `${other}${challenge}`)).statusCode).toBe(401);
    expect(verdict(await post('/account/passkeys', { name: 'Laptop', response }, begun.cookie))).toBe('400 passkey_expired');
    expect([(await ways(cookie)).passkeys, (await ways(other)).passkeys]).toEqual([[], []]);
  });

  it('refuses a passkey that another account has', async () => {
    const { device } = await own();
    const other = await dashboard.signIn(OTHER);
    expect(verdict(await add(device, other))).toBe('400 passkey_unfit');
    expect((await session(cookieOf(await signIn(device)))).json().email).toBe(EMAIL);
  });

  it('needs a session, and a page of ours', async () => {
    expect(verdict(await post('/account/passkeys/options', { password: PASSWORD }))).toBe('401 not_signed_in');
    expect(verdict(await post('/account/passkeys', {}))).toBe('401 not_signed_in');
    const cookie = await dashboard.signIn(EMAIL);
    const foreign = { origin: 'https://dashboard.example.net' };
    for (const path of ['/account/passkeys/options', '/account/passkeys', '/auth/sign-in/passkey/options', '/auth/sign-in/passkey']) {
      expect(verdict(await post(path, { password: PASSWORD }, cookie, foreign))).toBe('403 forbidden');
    }
  });

  it('stops at twenty', async () => {
    const { cookie } = await own();
    await dashboard.pool.query(
      `INSERT INTO auth_passkey (public_key, user_id, credential_id, counter, device_type, backed_up)
       SELECT public_key, user_id, n::text, 0, device_type, false FROM auth_passkey, generate_series(1, 19) AS n`,
    );
    expect(verdict(await post('/account/passkeys/options', { password: PASSWORD }, cookie))).toBe('409 passkey_limit_reached');
  });
});

describe('signing in with a passkey', () => {
  it('takes neither address nor password, is in the audit log, and shows as used', async () => {
    const { device } = await own();
    const { asked } = await beginToSignIn();
    expect(asked).toMatchObject({ rpId: 'dashboard.example.com', userVerification: 'required' });
    expect(asked).not.toHaveProperty('allowCredentials');
    const signedIn = await signIn(device);
    expect([signedIn.statusCode, signedIn.json()]).toEqual([200, { status: true }]);
    expect((await session(cookieOf(signedIn))).json().email).toBe(EMAIL);
    expect((await ways(cookieOf(signedIn))).passkeys).toEqual([expect.objectContaining({ lastUsedAt: expect.any(String) })]);
    expect((await actions()).at(-1)).toEqual(['account.sign_in', { passkey: 'Laptop' }]);
  });

  it('counts as both factors', async () => {
    const { device, cookie } = await own();
    const begun = await post('/auth/two-factor/enable', { password: PASSWORD }, cookie);
    const on = await post('/auth/two-factor/verify-totp', { code: totpOf(secretOf(begun.json().totpURI)) }, cookie);
    expect(on.statusCode).toBe(200);
    const signedIn = await signIn(device);
    expect((await session(cookieOf(signedIn))).json()).toMatchObject({ email: EMAIL, hasSecondFactor: true });
  });

  it('refuses an answer of another page, domain or device, to another challenge, or that checked nobody', async () => {
    const { device } = await own();
    for (const wrong of [...WRONG, { signedBy: new SoftwarePasskey(PAGE).privateKey }]) {
      const refused = await signIn(device, wrong);
      const expected = 'isVerified' in wrong ? '400 person_unverified' : '401 passkey_unknown';
      expect([wrong, verdict(refused), hasSession(refused)]).toEqual([wrong, expected, false]);
    }
    expect((await actions()).at(-1)).toEqual(['account.passkey_add', { passkey: 'Laptop' }]);
  });

  it('takes an answer once, and none that another browser was asked for', async () => {
    const { device } = await own();
    const begun = await beginToSignIn();
    const elsewhere = await beginToSignIn();
    const response = device.get(begun.asked);
    expect(verdict(await post('/auth/sign-in/passkey', { response }, elsewhere.cookie))).toBe('401 passkey_unknown');
    expect(verdict(await post('/auth/sign-in/passkey', { response }))).toBe('400 passkey_expired');
    expect(hasSession(await post('/auth/sign-in/passkey', { response }, begun.cookie))).toBe(true);
    expect(verdict(await post('/auth/sign-in/passkey', { response }, begun.cookie))).toBe('400 passkey_expired');
  });

  it('refuses a device that counts backwards: somebody has copied it', async () => {
    const { device } = await own();
    await signIn(device);
    await dashboard.pool.query('UPDATE auth_passkey SET counter = 40');
    expect(verdict(await signIn(device))).toBe('401 passkey_unknown');
  });

  it('takes nothing that was asked for to add one', async () => {
    const { device, cookie } = await own();
    const begun = await beginToAdd(cookie);
    const response = device.get({ ...begun.asked, rpId: begun.asked.rp.id });
    expect(verdict(await post('/auth/sign-in/passkey', { response }, begun.cookie))).toBe('400 passkey_expired');
  });

  it('opens no operator’s account, and keeps an account that was to be deleted', async () => {
    const { device, cookie } = await own();
    expect((await post('/account/delete', { password: PASSWORD }, cookie)).statusCode).toBe(200);
    const back = await signIn(device);
    expect((await session(cookieOf(back))).statusCode).toBe(200);
    expect((await dashboard.pool.query('SELECT FROM account_deletion')).rowCount).toBe(0);
    await dashboard.pool.query('INSERT INTO operator (user_id) SELECT user_id FROM auth_passkey');
    const refused = await signIn(device);
    expect([verdict(refused), hasSession(refused)]).toEqual(['401 operators_password', false]);
    const operator = cookieOf(back);
    expect(verdict(await post('/account/passkeys/options', { password: PASSWORD }, operator))).toBe('403 customers_only');
  });

  it('is refused for a while after many attempts from one address', async () => {
    const answers: number[] = [];
    for (let n = 0; n < 21; n++) answers.push((await post('/auth/sign-in/passkey/options', {})).statusCode);
    expect([answers.slice(0, 20).every((status) => status === 200), answers.at(-1)]).toEqual([true, 429]);
  });
});

describe('removing a passkey', () => {
  const remove = (id: string, cookie: string, password?: string) =>
    dashboard.ask({ method: 'DELETE', path: `/api/account/passkeys/${id}`, body: { password }, cookie });

  it('takes the password, ends all other sessions, and the passkey opens nothing from then on', async () => {
    const { device, cookie } = await own();
    const other = cookieOf(await signIn(device));
    const { id } = (await ways(cookie)).passkeys[0];
    expect(verdict(await remove(id, cookie, 'not the password'))).toBe('400 invalid_password');
    expect((await remove(id, cookie, PASSWORD)).statusCode).toBe(200);
    expect([(await session(cookie)).statusCode, (await session(other)).statusCode]).toEqual([200, 401]);
    expect(verdict(await signIn(device))).toBe('401 passkey_unknown');
    expect((await actions()).at(-1)).toEqual(['account.passkey_remove', { passkey: 'Laptop' }]);
  });

  it('is for the own ones alone', async () => {
    const { device, cookie } = await own();
    const { id } = (await ways(cookie)).passkeys[0];
    expect(verdict(await remove(id, await dashboard.signIn(OTHER), PASSWORD))).toBe('404 way_unknown');
    expect(hasSession(await signIn(device))).toBe(true);
  });

  it('never takes the last way in', async () => {
    const { device } = await own();
    await dashboard.pool.query("DELETE FROM auth_account WHERE provider_id = 'credential'");
    const cookie = cookieOf(await signIn(device));
    const { id } = (await ways(cookie)).passkeys[0];
    expect(verdict(await remove(id, cookie))).toBe('409 last_way');
    expect((await add(new SoftwarePasskey(PAGE), cookie)).statusCode).toBe(200);
    expect((await remove(id, cookie)).statusCode).toBe(200);
  });
});

it('says of itself whether there can be passkeys, and has none at a bare network address', async () => {
  const installation = async (at: TestDashboard) => (await at.ask({ path: '/api/installation' })).json().hasPasskeys;
  expect(await installation(dashboard)).toBe(true);
  const bare = await startDashboard({ url: 'http://127.0.0.1:8002' });
  try {
    expect(await installation(bare)).toBe(false);
    const asked = await bare.ask({ method: 'POST', path: '/api/auth/sign-in/passkey/options', body: {} });
    expect(asked.statusCode).toBe(404);
  } finally {
    await bare.close();
  }
});

it('keeps no cookie, challenge or answer of a device in the log', async () => {
  const { device } = await own();
  const begun = await beginToSignIn();
  const response = device.get(begun.asked);
  await post('/auth/sign-in/passkey', { response }, begun.cookie);
  await signIn(device, { origin: 'https://dashboard.example.net' });
  for (const each of [begun.asked.challenge, begun.cookie, JSON.stringify(response), device.id])
    expect(dashboard.log()).not.toContain(each);
});
