import { domainToUnicode } from 'node:url';
import { isIP } from 'node:net';
import { getPublicSuffix } from 'tldts';
import { registrableDomain } from '../../../kit/pages/page-url';
import { type SignalFinding, type Findings } from './spam-signals';
import { SPAM_TLDS } from './spam-words';

const LONG_FROM = 26;
const HYPHENS_FROM = 2;
const DIGITS_FROM = 3;
const CONSONANTS = /[bcdfghjklmnpqrstvwxz]{5,}/i;

function counted(count: number, from: number, what: string): SignalFinding {
  return { hit: count >= from, evidence: `${count} ${what} in the domain` };
}

/** Findings from a host's name alone. An IP address has no name. */
export function nameFindings(host: string): Findings {
  if (isIP(host) !== 0) return {};
  const domain = registrableDomain(host);
  const tld = domain.split('.').at(-1) ?? '';
  // Counts letters as people see them, rather than in their ASCII form.
  const suffix = getPublicSuffix(domain);
  const label = domainToUnicode(suffix !== null && domain.endsWith(`.${suffix}`) ? domain.slice(0, -suffix.length - 1) : domain);
  const run = CONSONANTS.exec(label)?.[0];
  return {
    spam_tld: { hit: SPAM_TLDS.has(tld), evidence: `.${tld}` },
    long_domain: { hit: domain.length >= LONG_FROM, evidence: `${domain.length} characters` },
    many_hyphens: counted(label.split('-').length - 1, HYPHENS_FROM, 'hyphens'),
    many_digits: counted(label.match(/\d/g)?.length ?? 0, DIGITS_FROM, 'digits'),
    consonant_run: { hit: run !== undefined, evidence: run ?? 'no five consonants in a row' },
  };
}
