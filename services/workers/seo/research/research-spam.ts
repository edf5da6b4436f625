import { estimated, SERVICE } from '../figure';
import { hostOf, registrableDomain } from '../../../kit/pages/page-url';
import { assessPage, findReputation, linksTo, readFrontPage, unlisting } from './assess-page';
import { pageFacts } from './page-facts';
import { readPage, type Research } from './research';
import { type Target } from './target';

/** A page, or the front page of a host. */
export type SpamSubject = { readonly url: URL } | { readonly host: string };

/** Judges how much a site, or a page as a backlink, looks like spam, and why. */
export async function researchSpam(research: Research, subject: SpamSubject, target: Target | undefined) {
  const host = 'url' in subject ? hostOf(subject.url) : subject.host;
  const [reputation, { asked, visit }] = await Promise.all([
    findReputation(research, [host]),
    'url' in subject
      ? readPage(research, subject.url.href).then((each) => ({ asked: subject.url, visit: each }))
      : readFrontPage(research, host),
  ]);
  const verdict = await assessPage(research, { asked, visit, reputation, target });
  research.log.requireSource(unlisting(reputation));
  research.log.note(SERVICE, 'service_estimate');
  return {
    url: asked.href,
    domain: registrableDomain(host),
    ...(target && { links_to_target: linksTo(visit, target) }),
    score: estimated(verdict.score, 'score_0_100', 'page_not_read'),
    tier: verdict.tier,
    checked: verdict.checked,
    signals: verdict.signals,
    page: pageFacts(visit),
  };
}
