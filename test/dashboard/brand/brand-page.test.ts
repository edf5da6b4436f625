import { alertMail } from '../../../services/dashboard/customer/alerts/alert-mails';
import { brandPage } from '../../../services/dashboard/brand/brand-page';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  allowChangeMail,
  changedMail,
  deletionMail,
  keptMail,
  passkeyAddedMail,
  proveAddressMail,
  providerConnectedMail,
} from '../../../services/dashboard/mail/account-mails';
import { dressMail } from '../../../services/dashboard/mail/dress-mail';
import { type Mail } from '../../../services/dashboard/http/dashboard-deps';
import { knownAddressMail, resetMail, verificationMail } from '../../../services/dashboard/mail/mail-texts';
import { type Brand, PLAIN_BRAND } from '../../../services/dashboard/brand/brand';
import { gatewayErrorPage } from '../../../services/dashboard/storefront/gateway-error-page';
import { readToken } from '../../../services/dashboard/brand/tokens';
import { invitationMail, removalMail, roleMail } from '../../../services/dashboard/customer/team/letters';

const PAGE = '<head><link rel="icon" href="/icon.svg" type="image/svg+xml" /><title>Tollgate</title></head>';

describe('the head of the app’s page', () => {
  it('carries the name of the installation, its colour and its logo', () => {
    const logo = { bytes: Buffer.from('<svg/>'), contentType: 'image/svg+xml' };
    expect(brandPage(PAGE, { name: 'Acme APIs', colour: '#a0b0c0', logo })).toBe(
      '<head><link rel="icon" href="/brand/logo" /><title>Acme APIs</title><meta name="application-name" content="Acme APIs" />' +
        '<meta name="theme-color" content="#a0b0c0" /><link rel="stylesheet" href="/brand.css" /></head>',
    );
  });

  it('names no colour where the installation has none of its own', () => {
    expect(brandPage(PAGE, PLAIN_BRAND)).not.toContain('theme-color');
  });

  it('takes a name as text, whatever signs are in it', () => {
    const page = brandPage(PAGE, { ...PLAIN_BRAND, name: `A&B "$&" </title><script>` });
    expect(page).toContain('<title>A&amp;B &quot;$&amp;&quot; &lt;/title&gt;&lt;script&gt;</title>');
    expect(page).not.toContain('<script>');
  });
});

const URL_OF_DASHBOARD = 'https://dash.example.com';
const PNG = { bytes: Buffer.from('89504e47', 'hex'), contentType: 'image/png' };
const ACME: Brand = {
  name: 'Acme & Sons',
  colour: '#0b6e4f',
  logo: PNG,
  words: { support: 'help@example.com', links: { terms: '/terms', imprint: 'https://example.com/imprint' }, powered_by: false },
};
const htmlOf = async (mail: Partial<Mail>, brand: Brand = ACME): Promise<string> => {
  const { html } = await dressMail({ subject: 'Hello', text: 'Hello.', ...mail }, { brand, url: URL_OF_DASHBOARD });
  return String(html);
};

describe('a mail', () => {
  it('carries the brand: name, accent, logo, support address and links, the site’s own paths as whole URLs', async () => {
    const { html, attachments } = await dressMail({ subject: 'Hello', text: 'Hello.' }, { brand: ACME, url: URL_OF_DASHBOARD });
    expect(html).toContain('Acme &amp; Sons');
    expect(html).toContain('border-top:3px solid #0b6e4f');
    expect(html).toContain('href="mailto:help@example.com"');
    expect(html).toContain(`href="${URL_OF_DASHBOARD}/terms"`);
    expect(html).toContain('href="https://example.com/imprint"');
    expect(html).toContain('src="cid:logo@brand"');
    expect(attachments).toEqual([expect.objectContaining({ cid: 'logo@brand', content: PNG.bytes, contentType: 'image/png' })]);
    expect(html).not.toContain('Tollgate');
    expect(await htmlOf({}, { ...ACME, words: { links: {}, powered_by: true } })).toContain('Powered by Tollgate');
  });

  it('has the colours of the design in light and dark, and a logo only where mail programs draw it', async () => {
    const html = await htmlOf({}, { ...PLAIN_BRAND, logo: { bytes: Buffer.from('<svg/>'), contentType: 'image/svg+xml' } });
    expect(html).toContain(`color:${readToken('text').light}`);
    expect(html).toContain(`.card{background:${readToken('surface').dark}!important`);
    expect(html).not.toContain('cid:');
  });

  it('makes a button of a link of the dashboard that stands alone, and of no other', async () => {
    const html = await htmlOf({ text: `Open:\n\n${URL_OF_DASHBOARD}/verify?token=a&b\n\nhttps://evil.example/verify\n` });
    expect(html).toMatch(
      /<a href="https:\/\/dash.example.com\/verify\?token=a&amp;b" style="[^"]*background:#0b6e4f[^"]*">Confirm your address<\/a>/,
    );
    expect(html).not.toMatch(/<a href="https:\/\/evil[^>]*background/);
    expect(html).toContain('<a href="https://evil.example/verify"');
  });

  it('takes what people typed as text', async () => {
    expect(await htmlOf({ text: '<img src=x onerror=alert(1)>' })).toContain('&lt;img src=x onerror=alert(1)&gt;');
  });

  const told = { to: 'a@example.com', organisation: 'Müller', by: 'b@example.com', name: 'Acme' };
  it.each<[string, Mail]>([
    ['alerts', alertMail({ to: '', alerts: [], timeZone: 'UTC', url: '', name: 'Acme' })],
    ['confirming', verificationMail('', '', 'Acme')],
    ['resetting', resetMail('', '', 'Acme')],
    ['a known address', knownAddressMail('', '', 'Acme')],
    ['deletion', deletionMail('', { erasedAt: new Date(0), signInPage: '', isPersonAlone: true }, 'Acme')],
    ['a kept account', keptMail('', { isPersonAlone: true }, 'Acme')],
    ['allowing an address', allowChangeMail('', { newEmail: '', link: '' }, 'Acme')],
    ['proving an address', proveAddressMail('', '', 'Acme')],
    ['a changed address', changedMail('', '', 'Acme')],
    ['a provider', providerConnectedMail('', 'GitHub', 'Acme')],
    ['a passkey', passkeyAddedMail('', 'phone', 'Acme')],
    ['an invitation', invitationMail({ ...told, role: 'admin', link: '', days: 7 })],
    ['a role', roleMail({ ...told, role: 'admin' })],
    ['a removal', removalMail(told)],
  ])('about %s names the seller alone', (_, { subject, text }) => expect(subject + text).not.toContain('Tollgate'));
});

describe('the gateway’s error page', () => {
  it('without a brand is the template that Kong is given', () => {
    expect(gatewayErrorPage(PLAIN_BRAND)).toBe(readFileSync(join(__dirname, '../../../kong/templates/problem.html'), 'utf8'));
  });

  it('carries the brand, loads nothing, and leaves Kong two places to fill', () => {
    const page = gatewayErrorPage({ ...ACME, name: '100% <Acme>' });
    expect(page).toContain('100%% &lt;Acme&gt;');
    expect(page).toContain('--accent:#0b6e4f');
    expect(page).toContain('mailto:help@example.com');
    expect(page).toContain('src="data:image/png;base64,');
    expect(page.replaceAll('%%', '').match(/%./g)).toEqual(['%s', '%s']);
    expect(page).not.toMatch(/Tollgate|<link|<script|src="http/);
  });
});
