/** Words for goods that are common in spam: our own choice. They match as whole words, in any case. */
const POISON = [
  'viagra', 'cialis', 'levitra', 'casino', 'casinos', 'poker', 'slots', 'roulette', 'baccarat', 'betting', 'bookmaker', 'jackpot',
  'porn', 'porno', 'xxx', 'escort', 'escorts', 'sex', 'camgirls', 'payday', 'replica', 'replicas', 'steroids', 'tramadol', 'xanax',
  'backlinks for sale', 'buy backlinks', 'essay writing service', 'weight loss pills', 'judi online', 'situs slot', 'togel', 'slot gacor',
]; // prettier-ignore

const POISON_PATTERN = new RegExp(`(?<![\\p{L}\\p{N}])(${POISON.join('|')})(?![\\p{L}\\p{N}])`, 'iu');

/** The first spam word in a text, or undefined. */
export function findPoison(text: string): string | undefined {
  return POISON_PATTERN.exec(text)?.[1]?.toLowerCase();
}

/** Words in phrases for which people buy links. */
const COMMERCIAL =
  /(?<![\p{L}\p{N}])(buy|cheap|cheapest|best price|discount|coupon|order online|for sale|deals?|loans?|insurance|mortgage|lawyers?|attorneys?|casino|poker|viagra|cialis|replica|seo services?|web hosting|payday|near me)(?![\p{L}\p{N}])/iu;
const MAX_WORDS = 6;

/** True for an anchor that is only a phrase to rank for: two to six words, including a commercial one. */
export function isCommercialAnchor(anchor: string): boolean {
  const words = anchor.split(/\s+/).filter(Boolean);
  return words.length >= 2 && words.length <= MAX_WORDS && COMMERCIAL.test(anchor);
}

/** Top-level domains of many cheap spam sites: our own choice, not a published ranking. The contract gives only the weight. */
export const SPAM_TLDS: ReadonlySet<string> = new Set([
  'bar', 'beauty', 'bid', 'buzz', 'cam', 'cf', 'click', 'country', 'cyou', 'date', 'download', 'faith', 'fit', 'ga', 'gdn', 'gq', 'icu',
  'kim', 'life', 'link', 'live', 'loan', 'men', 'ml', 'mom', 'monster', 'party', 'pw', 'quest', 'racing', 'rest', 'review', 'sbs',
  'science', 'stream', 'surf', 'tk', 'top', 'trade', 'vip', 'wang', 'win', 'work', 'xin', 'xyz', 'zip',
]); // prettier-ignore
