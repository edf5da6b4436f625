/** Cookies of one session, by name. */
export type Cookies = ReadonlyMap<string, string>;

/** Far more than a portal sets. Further cookies are ignored. */
const MAX_COOKIES = 40;
const MAX_COOKIE = 4_096;

/** Matches a comma that begins a new cookie. The comma in an `Expires` date has no name and `=` after it. */
const BETWEEN_COOKIES = /,(?=\s*[^\s;,=]+=)/;
const NAME_AND_VALUE = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([^;\s]*)/;
const EXPIRED = /;\s*max-age\s*=\s*(?:0|-\d+)\s*(?:;|$)/i;

/**
 * The session's cookies after a response. Domain, path and lifetime are ignored: the jar serves one host for some minutes.
 * @param setCookie the header's values, joined with commas
 */
export function cookiesAfter(cookies: Cookies, setCookie: string | undefined): Cookies {
  const next = new Map(cookies);
  for (const text of (setCookie ?? '').split(BETWEEN_COOKIES)) {
    const [, name, value] = NAME_AND_VALUE.exec(text) ?? [];
    if (name === undefined || value === undefined || name.length + value.length > MAX_COOKIE) continue;
    if (EXPIRED.test(text)) next.delete(name);
    else if (next.has(name) || next.size < MAX_COOKIES) next.set(name, value);
  }
  return next;
}

/** The `Cookie` header. */
export function cookieHeader(cookies: Cookies): Readonly<Record<string, string>> {
  if (cookies.size === 0) return {};
  return { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
}
