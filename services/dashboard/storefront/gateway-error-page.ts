import { escapeHtml } from '../brand/brand-page';
import { accentSheet } from '../brand/accent';
import { type Brand, PLAIN_BRAND } from '../brand/brand';
import { variablesOf } from '../brand/tokens';

/** The logo is inlined in the page, which is sent whole with each error. */
const MAX_INLINE_BYTES = 16_384;

const TEXT =
  'The gateway answered this itself. For a 4xx status, check the path, method, headers and size of the request. For a 5xx status the gateway or a service failed, not the request: send it again only if that is safe. Quote the request id when you ask for help.';

const SHEET = `
      body { margin: 0; background: var(--ground); color: var(--text); font: var(--type-body) / 1.5 var(--font); }
      main { max-width: 36rem; margin: var(--space-12) auto; padding: var(--space-8); background: var(--surface); border: 1px solid var(--line); border-top: 3px solid var(--accent); border-radius: var(--radius-large); }
      h1 { margin: 0 0 var(--space-4); font-size: var(--type-h2); }
      a { color: var(--link); }
      .brand { display: flex; align-items: center; gap: var(--space-2); font-weight: 600; }
      .quiet { color: var(--quiet); font-size: var(--type-small); overflow-wrap: anywhere; }`;

function headOf({ name, logo }: Brand): string {
  if (name === PLAIN_BRAND.name && !logo) return '';
  const isSmall = logo !== undefined && logo.bytes.length <= MAX_INLINE_BYTES;
  const picture = isSmall ? `<img src="data:${logo.contentType};base64,${logo.bytes.toString('base64')}" height="26" alt=""> ` : '';
  return `\n      <p class="brand">${picture}${escapeHtml(name)}</p>`;
}

function footOf({ name, words }: Brand): string {
  if (!words) return '';
  const { status, terms, privacy, imprint } = words.links;
  const links = { Status: status, Terms: terms, Privacy: privacy, Imprint: imprint };
  // Paths belong to the dashboard, which is another site here.
  const shown = Object.entries(links).flatMap(([text, to]) =>
    to?.startsWith('https:') === true ? `<a href="${escapeHtml(to)}">${text}</a>` : [],
  );
  if (words.support !== undefined) shown.push(`<a href="mailto:${escapeHtml(words.support)}">${escapeHtml(words.support)}</a>`);
  if (words.powered_by && name !== PLAIN_BRAND.name) shown.push('Powered by Tollgate');
  return shown.length === 0 ? '' : `\n      <p class="quiet">${shown.join(' · ')}</p>`;
}

/**
 * Kong's own error page for browsers: `error_template_html` of kong.conf, with its two `%s` for the message and the request id. It loads
 * nothing. kong/templates/problem.html is the one without a brand.
 */
export function gatewayErrorPage(brand: Brand): string {
  const accent = brand.colour === PLAIN_BRAND.colour ? '' : accentSheet(brand.colour);
  const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Request not completed</title>
    <style>
      ${variablesOf(SHEET)}
${accent}${SHEET.slice(1)}
    </style>
  </head>
  <body>
    <main>${headOf(brand)}
      <h1>MESSAGE</h1>
      <p>${TEXT}</p>
      <p class="quiet">request_id: REQUEST</p>${footOf(brand)}
    </main>
  </body>
</html>
`;
  return page.replaceAll('%', '%%').replace('<h1>MESSAGE</h1>', '<h1>%s</h1>').replace('request_id: REQUEST', 'request_id: %s');
}
