import { type ParsedPage } from '../../../kit/pages/parse-page';
import { plausibleAddress } from './email-address';

/** Maximum addresses kept for one business. A page that lists more is a directory. */
export const MAX_EMAILS = 5;
/** Maximum addresses examined in one page. A page with more counts as a list of addresses. */
const MAX_FOUND = 500;
/** Every repeat is bounded, so that no text makes the search slow. */
const IN_TEXT = /(?<![\w.%+-])[a-z0-9_][a-z0-9._%+-]{0,63}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,63}(?![\w-])/gi;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The recipients of mailto: links (RFC 6068), without subject and copies. */
function* recipientsOf(targets: readonly string[]): Generator<string> {
  for (const target of targets) {
    const [recipients = ''] = target.split('?', 1);
    for (const each of recipients.split(',')) yield decoded(each).trim();
  }
}

/**
 * Email addresses that a page shows to its readers, first from links and then from text, without repeats, in lower case. Addresses that
 * are hidden from machines (`info [at] …`) are left alone.
 * @param site the site whose addresses count, in the form of `siteOf`
 */
export function emailsInPage({ mailTargets, text }: Pick<ParsedPage, 'mailTargets' | 'text'>, site: string): string[] {
  const emails = new Set<string>();
  const take = (candidates: Iterable<string>): void => {
    let looked = 0;
    for (const candidate of candidates) {
      if (emails.size === MAX_EMAILS || looked++ === MAX_FOUND) return;
      const address = plausibleAddress(candidate, site);
      if (address !== undefined) emails.add(address);
    }
  };
  take(recipientsOf(mailTargets));
  take(matchesIn(text));
  return [...emails];
}

function* matchesIn(text: string): Generator<string> {
  for (const [match] of text.matchAll(IN_TEXT)) yield match;
}
