import { brandPage } from '../../../services/dashboard/api/http/brand-page';
import { PLAIN_BRAND } from '../../../services/dashboard/api/public/brand';

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
