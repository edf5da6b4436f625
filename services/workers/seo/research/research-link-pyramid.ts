import { estimated, SERVICE } from '../figure';
import { hostOf, registrableDomain } from '../../../kit/pages/page-url';
import { assessPage, findReputation, linksTo, unlisting } from './assess-page';
import { discoverLinks } from './search';
import { readPage, type Research } from './research';
import { type SpamTier } from './spam-signals';
import { type Target, targetText } from './target';

export interface LinkPyramidQuery {
  /** If empty, links are discovered. */
  readonly links: readonly URL[];
  /** Required when there are no links. */
  readonly target: Target | undefined;
  /** Maximum of discovered links. */
  readonly limit: number;
}

const TIERS = ['clean', 'caution', 'spam'] as const satisfies readonly SpamTier[];

async function findLinks(research: Research, { links, target, limit }: LinkPyramidQuery): Promise<readonly URL[]> {
  if (links.length > 0 || !target) return links;
  const discovered = await discoverLinks(research, target, limit);
  research.log.requireProvider();
  return discovered;
}

/** Ranks the pages that link to a site by how much they look like spam. */
export async function researchLinkPyramid(research: Research, query: LinkPyramidQuery) {
  const { target } = query;
  const links = await findLinks(research, query);
  const asking = findReputation(research, [...new Set(links.map(hostOf))]);
  const rows = await Promise.all(
    links.map(async (link) => {
      const [visit, reputation] = await Promise.all([readPage(research, link.href), asking]);
      const verdict = await assessPage(research, { asked: link, visit, reputation, target });
      return {
        url: link.href,
        domain: registrableDomain(hostOf(link)),
        http_status: visit.status,
        reason: visit.state === 'read' ? null : visit.reason,
        links_to_target: target ? linksTo(visit, target) : null,
        tier: verdict.tier,
        score: estimated(verdict.score, 'score_0_100', 'page_not_read'),
        checked: verdict.checked,
        hits: verdict.signals.filter(({ hit }) => hit === true).map(({ id, weight, evidence }) => ({ id, weight, evidence })),
      };
    }),
  );
  research.log.requireSource(unlisting(await asking));
  research.log.note(SERVICE, 'service_estimate');
  const inTier = (tier: SpamTier) => rows.filter((row) => row.tier === tier).sort((a, b) => (a.score.value ?? 0) - (b.score.value ?? 0));
  return {
    target: target ? targetText(target) : null,
    totals: Object.fromEntries(TIERS.map((tier) => [tier, estimated(inTier(tier).length, 'links')])),
    tiers: Object.fromEntries(TIERS.map((tier) => [tier, inTier(tier)])),
  };
}
