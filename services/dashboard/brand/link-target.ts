/** Where a link may lead: to a place of this site, another site, or a mail address. */
export type LinkTargetKind = 'place' | 'https' | 'http' | 'mail';

const SITE = 'https://site.invalid';

/**
 * The kind of a link as a browser reads it. A browser reads `\` as `/` and drops tabs and line feeds, so `/\evil.example` leads to another
 * site.
 * @returns undefined for anything that is not a link, such as `javascript:`
 */
export function linkKind(target: string): LinkTargetKind | undefined {
  if (/^mailto:/i.test(target)) return 'mail';
  // Relative paths are not offered: where they lead depends on the page.
  const isPlace = /^[/#]/.test(target);
  if ((!isPlace && !/^https?:\/\//i.test(target)) || !URL.canParse(target, SITE)) return undefined;
  const { origin, protocol } = new URL(target, SITE);
  if (isPlace) return origin === SITE ? 'place' : undefined;
  return protocol === 'https:' ? 'https' : 'http';
}
