import { type AsnFacts } from './asn-table';
import { isHostingNetwork } from './hosting-networks';
import { type IpAnswer } from './ip-answer';

/** The kind of organisation that runs a network, and the source of that. */
export type AsType = Pick<IpAnswer, 'as_type' | 'as_type_source'>;

/** Words in an organisation's name that reveal its kind. Hosting companies have all sorts of names, so they are in a list instead. */
const NAMED: readonly (readonly [type: AsType['as_type'], words: RegExp])[] = [
  ['education', /\b(?:universit\w+|universidad\w*|college|school|hochschule|polytechnic|academ\w+ network|research and education)\b/i],
  [
    'isp',
    /\b(?:telecom\w*|telekom\w*|t[eé]l[eé]com\w*|telef[oó]nica|infocomm?|broadband|cable|cablevision|mobile|wireless|cellular|fib(?:er|re))\b/i,
  ],
  [
    'business',
    /\b(?:banks?|banking|banco|banca|banque|insurance|assurance|seguros|securities|airlines?|airways|airport|hospitals?|pharma\w*|motors?|automotive|petroleum|retail|supermarkets?)\b/i,
  ],
];

/** Null if neither the list nor the name says. That says nothing about the network. */
export function asTypeOf({ number, organisation }: AsnFacts): AsType {
  if (isHostingNetwork(number)) return { as_type: 'hosting', as_type_source: 'asn_list' };
  const [type] = NAMED.find(([, words]) => words.test(organisation)) ?? [];
  return type ? { as_type: type, as_type_source: 'as_org' } : { as_type: null, as_type_source: null };
}
