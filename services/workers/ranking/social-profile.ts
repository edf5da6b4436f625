import { getDomain } from 'tldts';

/** Networks where businesses keep a page in place of a website, by domain. */
const NETWORKS: ReadonlyMap<string, string> = new Map([
  ['facebook.com', 'facebook'],
  ['fb.com', 'facebook'],
  ['instagram.com', 'instagram'],
  ['linkedin.com', 'linkedin'],
  ['linktr.ee', 'linktree'],
  ['tiktok.com', 'tiktok'],
  ['twitter.com', 'x'],
  ['wa.me', 'whatsapp'],
  ['x.com', 'x'],
  ['youtube.com', 'youtube'],
]);

export interface SocialProfile {
  readonly network: string;
  readonly url: string;
}

/** The profiles that a business gives. No source has a member for them, but many given websites are profiles. */
export function socialsOf(website: string | null): readonly SocialProfile[] {
  const network = website === null ? undefined : NETWORKS.get(getDomain(website) ?? '');
  return website === null || network === undefined ? [] : [{ network, url: website }];
}
