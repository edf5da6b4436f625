import { pageFindings, nameFindings, isCommercialAnchor } from '../../../services/workers/seo/research/spam-findings';
import { type Findings, judgeSpam, SPAM_WEIGHTS, type SpamSignalId } from '../../../services/workers/seo/research/spam-signals';
import { parseTarget } from '../../../services/workers/seo/research/target';
import { parsePage } from '../../../services/kit/pages/parse-page';

it('the weights are those of the contract', () => {
  expect(SPAM_WEIGHTS).toEqual({
    poison_words: 25, blocklisted: 40, spam_tld: 10, long_domain: 5, many_hyphens: 6, many_digits: 5, consonant_run: 5, no_https: 8,
    no_contact: 5, no_favicon: 3, many_external_links: 10, external_link_ratio: 10, hidden_links: 15, cross_domain_redirect: 10,
    noindex: 5, commercial_anchor: 8, sitewide_link: 4, high_open_page_rank: -10,
  }); // prettier-ignore
});

const IDS = Object.keys(SPAM_WEIGHTS) as SpamSignalId[];
/** These hit, five harmless ones were checked too. */
function found(...hits: SpamSignalId[]): Findings {
  const quiet = IDS.filter((id) => !hits.includes(id)).slice(0, 5);
  return Object.fromEntries([
    ...quiet.map((id) => [id, { hit: false, evidence: '' }]),
    ...hits.map((id) => [id, { hit: true, evidence: 'x' }]),
  ]);
}

describe('the verdict', () => {
  it.each<[number, string, SpamSignalId[]]>([
    [24, 'clean', ['no_https', 'no_contact', 'no_favicon', 'commercial_anchor']],
    [25, 'caution', ['poison_words']],
    [60, 'spam', ['blocklisted', 'spam_tld', 'many_external_links']],
    [100, 'spam', IDS],
    [15, 'clean', ['poison_words', 'high_open_page_rank']],
  ])('%i points are %s', (score, tier, hits) => expect(judgeSpam(found(...hits), true)).toMatchObject({ score, tier }));

  it('is never clean with fewer than five signals checked', () => {
    const few = Object.fromEntries(IDS.slice(0, 4).map((id) => [id, { hit: false, evidence: '' }]));
    expect(judgeSpam(few, true)).toMatchObject({ checked: 4, tier: 'caution' });
    expect(judgeSpam({ ...few, noindex: { hit: false, evidence: '' } }, true)).toMatchObject({ checked: 5, tier: 'clean' });
  });

  it('on a page that could not be read is caution without a score, whatever its name says', () => {
    expect(judgeSpam(found(), false)).toMatchObject({ score: null, tier: 'caution' });
    expect(judgeSpam(found('blocklisted', 'poison_words'), false)).toMatchObject({ score: null, tier: 'caution' });
  });

  it('names every signal, unchecked ones without a verdict', () => {
    const { signals } = judgeSpam({ noindex: { hit: true, evidence: 'noindex' } }, true);
    expect(signals.map(({ id }) => id)).toEqual(IDS);
    expect(signals.find(({ id }) => id === 'noindex')).toEqual({ id: 'noindex', hit: true, weight: 5, evidence: 'noindex' });
    expect(signals.find(({ id }) => id === 'spam_tld')).toEqual({ id: 'spam_tld', hit: null, weight: 10, evidence: null });
  });
});

const hitsOf = (findings: Findings) => IDS.filter((id) => findings[id]?.hit === true);

describe('a name', () => {
  it.each<[string, SpamSignalId[]]>([
    ['shop.top', ['spam_tld']],
    [`${'a'.repeat(22)}.com`, ['long_domain']],
    ['one-two-three.com', ['many_hyphens']],
    ['ab123.com', ['many_digits']],
    ['abcdfga.com', ['consonant_run']],
    ['news.bbc.co.uk', []],
    ['93.184.216.34', []],
  ])('%s gives away %j', (host, hits) => expect(hitsOf(nameFindings(host))).toEqual(hits));
});

const GOOD = `<title>A page</title><link rel=icon href=/i><a href="mailto:a@b.example">write</a><p>${'word '.repeat(200)}</p>`;
interface PageOptions {
  readonly url?: string;
  readonly asked?: string;
  readonly target?: string;
  readonly headers?: Record<string, string>;
}

function pageHits(html: string, options: PageOptions = {}): SpamSignalId[] {
  const { url = 'https://site.example/', asked = url, headers = {}, target } = options;
  const page = parsePage(html, url);
  const visit = { state: 'read' as const, status: 200, robotsAllowed: true, url: new URL(url), headers, page };
  const found = pageFindings({
    visit, asked: new URL(asked), hasIcon: page.hasIcon, target: target === undefined ? undefined : parseTarget('target', target), isSitewide: undefined,
  }); // prettier-ignore
  return hitsOf(found);
}
const links = (count: number) => Array.from({ length: count }, (_, index) => `<a href="https://o${index}.example/">x</a>`).join(' ');

describe('a page', () => {
  const WORDS = `<p>${'word '.repeat(2_000)}</p>`;
  const TEN_WORDS = '<title>t</title><link rel=icon href=/i><a href="mailto:a@b.example">w</a><p>a b c d e f g h</p>';
  const ANCHORS = `${GOOD}<a href="https://t.example/">T</a><a href="https://o.example/">buy cheap shoes</a>`;

  it.each<[string, string, SpamSignalId[], PageOptions]>([
    ['that is well kept', GOOD, [], {}],
    ['with a bad word in its title', GOOD.replace('A page', 'Best CASINO'), ['poison_words'], {}],
    ['with an anchor that sells', `${GOOD}<a href="https://o.example/">buy cheap shoes</a>`, ['commercial_anchor'], {}],
    ['with hidden links', `${GOOD}<div style="display:none">${links(1)}</div>`, ['hidden_links'], {}],
    ['without icon, contact and TLS', WORDS, ['no_https', 'no_contact', 'no_favicon'], { url: 'http://site.example/' }],
    ['that is mostly links', TEN_WORDS + links(2), ['external_link_ratio'], {}],
    ['that leads to another domain', GOOD, ['cross_domain_redirect'], { asked: 'https://other.example/' }],
    ['whose link to the target does not sell', ANCHORS, [], { target: 't.example' }],
    ['whose link to the target sells', ANCHORS, ['commercial_anchor'], { target: 'o.example' }],
  ])('%s gives away what it should', (_what, html, hits, options) => expect(pageHits(html, options)).toEqual(hits));
});

it.each([
  ['buy cheap shoes', true],
  ['buy', false],
  ['our deal with the city to plant more trees', false],
])('whether "%s" is a commercial anchor: %s', (anchor, commercial) => expect(isCommercialAnchor(anchor)).toBe(commercial));
