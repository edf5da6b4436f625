import { passkeyDomain } from '../../../services/dashboard/sign-in/passkeys/passkey-domain';
import { type z } from 'zod';
import { findProviderProblems, providerSettings, readProviders } from '../../../services/dashboard/sign-in/providers/provider-settings';
import { createServer, type Server } from 'node:net';
import { createSmtpSender } from '../../../services/dashboard/mail/mail-sender';
import { problemFrom } from '../../../services/dashboard/web/parts/api/api-problem';
import { PLAIN_BRAND } from '../../../services/dashboard/brand/brand';

it.each([
  ['https://dashboard.example.com', 'dashboard.example.com'],
  ['https://dashboard.example.com:8443', 'dashboard.example.com'],
  ['http://localhost:8002', 'localhost'],
  ['http://dashboard.example.com', undefined],
  ['http://127.0.0.1:8002', undefined],
  ['https://203.0.113.7', undefined],
  ['https://[2001:db8::7]', undefined],
])('binds the passkeys of %s to %s', (url, domain) => {
  expect(passkeyDomain(url)).toBe(domain);
});

it.each([
  ['invalid_code', 'Invalid code.', 'This code is wrong or too old. Enter the one that the app shows now.'],
  ['INVALID_BACKUP_CODE', 'Invalid backup code.', 'This recovery code is wrong or was used. Enter another one.'],
  ['code_used', 'This code was used already; wait for the next one.', 'This code was used already; wait for the next one.'],
])('says what to do about the refusal %s of a second factor', (code, detail, text) => {
  expect(problemFrom(401, { code, detail }).text).toBe(text);
});

const read = (signIn: unknown, secrets: unknown = {}) =>
  providerSettings.safeParse({ DASHBOARD_SIGN_IN: JSON.stringify(signIn), DASHBOARD_SIGN_IN_SECRETS: JSON.stringify(secrets) });
const parsed = (signIn: unknown, secrets?: unknown): z.output<typeof providerSettings> => {
  const { data } = read(signIn, secrets);
  if (!data) throw new Error('refused');
  return data;
};
const problems = (signIn: unknown, secrets?: unknown) =>
  findProviderProblems(parsed(signIn, secrets)).map(({ name, message }) => `${name} ${message}`);

describe('the settings of sign-in providers', () => {
  it('know Google and GitHub by their ids, and any other by its issuer', () => {
    const acme = { id: 'acme', name: 'Acme', issuer: 'https://sso.acme.example/', clientId: 'c' };
    const enterprise = { id: 'github', name: 'Code', issuer: 'https://code.acme.example/', clientId: 'd' };
    const settings = parsed([{ id: 'google', clientId: 'a' }, enterprise, acme], { google: 's1', github: 's2', acme: 's3' });
    expect(findProviderProblems(settings)).toEqual([]);
    expect(readProviders(settings)).toEqual([
      { id: 'google', name: 'Google', kind: 'oidc', issuer: 'https://accounts.google.com', clientId: 'a', clientSecret: 's1' },
      { id: 'github', name: 'Code', kind: 'github', issuer: 'https://code.acme.example', clientId: 'd', clientSecret: 's2' },
      // To the letter, as the provider signs it.
      { ...acme, kind: 'oidc', clientSecret: 's3' },
    ]);
  });

  it('are nobody when they are not set', () => {
    expect(readProviders(providerSettings.parse({}))).toEqual([]);
  });

  it('refuse what is no list, an unknown member, an id of another form and an issuer without https, and never repeat what was given', () => {
    const wrong = ['{', [{ id: 'google' }], [{ id: 'credential', clientId: 'hidden-text' }], [{ id: 'Acme', clientId: 'hidden-text' }]];
    const insecure = [
      [{ id: 'acme', name: 'Acme', issuer: 'http://sso.acme.example', clientId: 'hidden-text' }],
      [{ id: 'acme', name: 'Acme', issuer: 'https://user:hidden-text@sso.acme.example', clientId: 'x' }],
      [{ id: 'google', clientId: 'x', clientSecret: 'hidden-text' }],
    ];
    for (const each of [...wrong, ...insecure]) {
      const { error } = read(each);
      expect([each, error?.issues.length]).toEqual([each, 1]);
      expect(JSON.stringify(error?.issues)).not.toContain('hidden-text');
    }
    expect(read([{ id: 'acme', name: 'Acme', issuer: 'http://127.0.0.1:9000', clientId: 'x' }]).success).toBe(true);
  });

  it('say which provider lacks a name, an issuer or its secret, or is there twice', () => {
    expect(problems([{ id: 'acme', clientId: 'x' }], { acme: 's' })).toEqual(['DASHBOARD_SIGN_IN acme needs a name and an issuer']);
    expect(problems([{ id: 'google', clientId: 'x' }])).toEqual(['DASHBOARD_SIGN_IN_SECRETS has no secret for google']);
    const google = { id: 'google', clientId: 'x' };
    expect(problems([google, google], { google: 's' })).toEqual(['DASHBOARD_SIGN_IN has google twice']);
  });
});

/** Just enough of RFC 5321 to take a mail, or to refuse one. */
function startSmtpServer(refusal?: string): Promise<{ server: Server; url: string; received: () => string }> {
  let received = '';
  const server = createServer((socket) => {
    let inMail = false;
    socket.on('error', () => undefined);
    socket.write('220 test\r\n');
    socket.on('data', (chunk: Buffer) => {
      const text = chunk.toString();
      if (inMail) {
        received += text;
        if (!received.endsWith('\r\n.\r\n')) return;
        inMail = false;
        socket.write('250 taken\r\n');
        return;
      }
      for (const line of text.split('\r\n').filter(Boolean)) {
        if (/^RCPT/.test(line) && refusal) socket.write(refusal);
        else if (/^DATA/.test(line)) {
          inMail = true;
          socket.write('354 go on\r\n');
        } else if (/^QUIT/.test(line)) socket.end('221 bye\r\n');
        else socket.write('250 ok\r\n');
      }
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      resolve({ server, url: `smtp://127.0.0.1:${port}`, received: () => received });
    });
  });
}

const mail = { to: 'asha@example.com', subject: 'Häuser 🚀', text: 'Open:\n\nhttp://dashboard.test/verify?token=very-secret\n' };

describe('mail by SMTP', () => {
  it('arrives as plain text and as HTML, with sender, receiver, subject and an unbroken link', async () => {
    const { server, url, received } = await startSmtpServer();
    const sender = await createSmtpSender(url, 'tollgate@example.com', { brand: PLAIN_BRAND, url: 'http://dashboard.test' });
    try {
      await sender.send(mail);
      expect(received()).toContain('From: tollgate@example.com');
      expect(received()).toContain('To: asha@example.com');
      expect(received()).toMatch(/Subject: =\?UTF-8\?/);
      expect(received().match(/Content-Type: text\/\w+/g)).toEqual(['Content-Type: text/plain', 'Content-Type: text/html']);
      expect(received().replace(/=\r\n/g, '').replaceAll('=3D', '=')).toContain('http://dashboard.test/verify?token=very-secret');
    } finally {
      sender.close();
      server.close();
    }
  });

  it('that a reader asked for can be ended by one click in the mail program', async () => {
    const { server, url, received } = await startSmtpServer();
    const sender = await createSmtpSender(url, 'tollgate@example.com', { brand: PLAIN_BRAND, url: 'http://dashboard.test' });
    try {
      await sender.send({ ...mail, unsubscribe: 'http://dashboard.test/status-mail/end?token=a.b' });
      expect(received().replace(/\r\n[ \t]/g, '')).toContain('List-Unsubscribe: <http://dashboard.test/status-mail/end?token=a.b>');
      expect(received()).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
    } finally {
      sender.close();
      server.close();
    }
  });

  it('that is refused says so without a word of the mail or its address', async () => {
    const { server, url } = await startSmtpServer('550 no mailbox for asha@example.com\r\n');
    const sender = await createSmtpSender(url, 'tollgate@example.com', { brand: PLAIN_BRAND, url: 'http://dashboard.test' });
    try {
      const failure = await sender.send(mail).catch((error: unknown) => error);
      expect(failure).toEqual(new Error('the SMTP server did not take a mail (EENVELOPE)'));
      expect((failure as Error).cause).toBeUndefined();
    } finally {
      sender.close();
      server.close();
    }
  });
});
