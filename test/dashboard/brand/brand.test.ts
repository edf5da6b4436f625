import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accentSheet, textOn } from '../../../services/dashboard/brand/accent';
import { readToken } from '../../../services/dashboard/brand/tokens';
import { type Brand, PLAIN_BRAND, readBrand } from '../../../services/dashboard/brand/brand';
import { alertMail } from '../../../services/dashboard/customer/alerts/alert-mails';
import { brandPage } from '../../../services/dashboard/brand/brand-page';
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
import { gatewayErrorPage } from '../../../services/dashboard/storefront/gateway-error-page';
import { invitationMail, removalMail, roleMail } from '../../../services/dashboard/customer/team/letters';
import { linkKind } from '../../../services/dashboard/brand/link-target';
import { fc } from '../../support/fast-check';

describe('the look of an installation', () => {
  it('has text on its colour that can be read', () => {
    expect([textOn('#ffffff'), textOn('#ffd400'), textOn('#3b5bdb'), textOn('#000000')]).toEqual(['#000', '#000', '#fff', '#fff']);
  });

  it('is refused at the start when its logo cannot be read', () => {
    const brand = { DASHBOARD_NAME: 'Acme', DASHBOARD_COLOUR: '#A0B0C0', DASHBOARD_LOGO: '/nowhere/logo.svg' };
    expect(() => readBrand(brand)).toThrow('DASHBOARD_LOGO cannot be read');
    expect(readBrand({ ...brand, DASHBOARD_LOGO: undefined })).toMatchObject({ name: 'Acme', colour: '#a0b0c0' });
    expect(readBrand({ ...brand, DASHBOARD_LOGO: `${__dirname}/../../../services/dashboard/web/public/icon.svg` }).logo?.contentType).toBe(
      'image/svg+xml',
    );
  });
});

it.each([
  ['Acme', '#0b6e4f', 'fill="#fff">A</text>'],
  ['ähre', '#ffd400', 'fill="#000">Ä</text>'],
  ['<b>', '#000000', 'fill="#fff">&lt;</text>'],
])('stands in the seller’s colour for a name without a logo: %s', (name, colour, letter) => {
  const { logo } = readBrand({ DASHBOARD_NAME: name, DASHBOARD_COLOUR: colour, TOLLGATE_CONFIG: tmpdir() });
  expect(logo?.contentType).toBe('image/svg+xml');
  expect(String(logo?.bytes)).toContain(letter);
  expect(String(logo?.bytes)).toContain(`fill="${colour}"`);
  expect(readBrand({ TOLLGATE_CONFIG: tmpdir() }).logo).toBeUndefined();
});

describe('brand.yml', () => {
  const folders: string[] = [];
  afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));
  const folderWith = (text: string): { TOLLGATE_CONFIG: string } => {
    const folder = mkdtempSync(join(tmpdir(), 'brand-'));
    folders.push(folder);
    writeFileSync(join(folder, 'brand.yml'), text);
    writeFileSync(join(folder, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    return { TOLLGATE_CONFIG: folder };
  };

  it('gives name, accent, logos, words and links; a setting goes before it', () => {
    const folder = folderWith(
      'name: Acme\naccent: "#0B6E4F"\nlogo: { light: logo.svg, dark: logo.svg }\nheadline: Weather, by the hour\nlinks: { terms: /terms }\n',
    );
    const brand = readBrand(folder);
    expect([brand.name, brand.colour, brand.logo?.contentType, brand.darkLogo?.contentType]).toEqual([
      'Acme',
      '#0b6e4f',
      'image/svg+xml',
      'image/svg+xml',
    ]);
    expect(brand.words).toMatchObject({ headline: 'Weather, by the hour', links: { terms: '/terms' }, powered_by: true });
    expect(readBrand({ ...folder, DASHBOARD_NAME: 'Other' }).name).toBe('Other');
  });

  it.each([
    ['name: [', 'is not valid YAML'],
    ['nmae: Acme', 'Unrecognized key: "nmae"'],
    ['accent: green', 'accent: must be a colour'],
    ['links: { terms: "javascript:alert(1)" }', 'links.terms: must be a URL that starts with https://'],
    ['links: { terms: //evil.example }', 'links.terms: must be a URL that starts with https://'],
    ['support: nobody', 'support: must be an email address'],
    ['logo: { light: logo.exe }', 'logo.light: must be a file that ends in .svg, .png or .webp'],
    ['logo: { light: gone.svg }', 'logo.light of brand.yml cannot be read'],
  ])('is refused at the start, with the place of the mistake: %s', (text, message) => {
    expect(() => readBrand(folderWith(text))).toThrow(message);
  });

  it.each(['#ffd400', '#0b6e4f', '#000000', '#ffffff', '#3b5bdb'])(
    'makes links of the accent %s that can be read in both schemes',
    (accent) => {
      const [, light = '', dark = ''] = /--link:light-dark\((#\w+), (#\w+)\)/.exec(accentSheet(accent)) ?? [];
      // Links that carry black or white text as their ground are dark or light enough themselves.
      expect([textOn(light), textOn(dark)]).toEqual(['#fff', '#000']);
    },
  );

  it.each(['#ffd400', '#0b6e4f', '#000000', '#c78457', '#3b5bdb', '#4060dd'])(
    'draws the first series of charts in the accent %s, and every other in a colour of its own',
    (accent) => {
      const sheet = accentSheet(accent);
      const [, link] = /--link:light-dark\((#\w+), /.exec(sheet) ?? [];
      const changed = new Map([...sheet.matchAll(/--(chart-\d):light-dark\((#\w+), /g)].map(([, name, light]) => [name, light]));
      expect(changed.get('chart-1')).toBe(link);
      const all = [1, 2, 3, 4, 5, 6, 7].map((at) => changed.get(`chart-${at}`) ?? readToken(`chart-${at}`).light);
      expect(new Set(all).size).toBe(all.length);
      expect([...changed.values()].filter((colour) => colour !== link)).toEqual(
        ['#3b5bdb', '#4060dd'].includes(accent) ? [] : [readToken('chart-1').light],
      );
    },
  );
});

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

describe('a link', () => {
  it.each<[string, ReturnType<typeof linkKind>]>([
    ['/terms', 'place'],
    ['/terms?of=use#top', 'place'],
    ['#top', 'place'],
    ['https://example.com/terms', 'https'],
    ['HTTPS://example.com', 'https'],
    ['http://example.com', 'http'],
    ['mailto:help@example.com', 'mail'],
  ])('%j is a link', (target, kind) => {
    expect(linkKind(target)).toBe(kind);
  });

  it.each([
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '\\/evil.example',
    '/\t/evil.example',
    '/\n\\evil.example',
    '\t//evil.example',
    ' //evil.example',
    'https:evil.example',
    'https:\\\\evil.example',
    'https://',
    'javascript:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,x',
    'terms.html',
    '',
  ])('%j is no link of a page', (target) => {
    expect(linkKind(target)).toBeUndefined();
  });

  it('a place never leads to another site, whatever stands in it', () => {
    const part = fc.constantFrom('/', '\\', '\t', '\n', '\r', '@', ':', '.', '#', '?', '%2f', ' ', 'evil.example');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const target = parts.join('');
        if (linkKind(target) !== 'place') return;
        expect(new URL(target, 'https://shop.example/docs/a').host).toBe('shop.example');
      }),
    );
  });
});
