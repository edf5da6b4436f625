import { type AsnFacts } from './asn-table';
import { isHostingNetwork } from './hosting-networks';

/** What kind of organisation runs a network, and how that is known. */
export interface AsType {
  readonly type: 'hosting' | 'education' | 'isp';
  /** `asn_list`: the list of hosting networks. `as_org`: words of the organisation's name. */
  readonly source: 'asn_list' | 'as_org';
}

/** Words that an organisation has in its name for what it is. Hosting companies call themselves many things, so they are in a list. */
const NAMED: readonly (readonly [type: AsType['type'], words: RegExp])[] = [
  ['education', /\b(?:universit\w+|universidad\w*|college|school|hochschule|polytechnic|academ\w+ network|research and education)\b/i],
  [
    'isp',
    /\b(?:telecom\w*|telekom\w*|t[eé]l[eé]com\w*|telef[oó]nica|infocomm?|broadband|cable|cablevision|mobile|wireless|cellular|fib(?:er|re))\b/i,
  ],
];

/** Undefined where neither the list nor the name says: that is no statement about the network. */
export function asTypeOf({ number, organisation }: AsnFacts): AsType | undefined {
  if (isHostingNetwork(number)) return { type: 'hosting', source: 'asn_list' };
  const named = NAMED.find(([, words]) => words.test(organisation));
  return named && { type: named[0], source: 'as_org' };
}
