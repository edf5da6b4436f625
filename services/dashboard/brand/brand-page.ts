import { type Brand, PLAIN_BRAND } from './brand';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
/** Text for an element or an attribute of a page. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

const TITLE = /<title>[^<]*<\/title>/;
const ICON = /<link rel="icon"[^>]*>/;

/**
 * The app's one page with the installation's name, colour and logo in its head, where the app reads them before it draws anything. The
 * page's policy allows no inline script, and a further request would first show the wrong name.
 */
export function brandPage(html: string, { name, colour, logo, darkLogo, words }: Brand): string {
  const isOwnColour = colour !== PLAIN_BRAND.colour;
  const head = [
    `<title>${escapeHtml(name)}</title>`,
    `<meta name="application-name" content="${escapeHtml(name)}" />`,
    ...(isOwnColour ? [`<meta name="theme-color" content="${colour}" />`, '<link rel="stylesheet" href="/brand.css" />'] : []),
    ...(words?.support === undefined ? [] : [`<meta name="support" content="${escapeHtml(words.support)}" />`]),
    ...(darkLogo ? ['<meta name="dark-logo" content="/brand/logo-dark" />'] : []),
  ].join('');
  const branded = html.replace(TITLE, () => head);
  return logo ? branded.replace(ICON, () => '<link rel="icon" href="/brand/logo" />') : branded;
}
