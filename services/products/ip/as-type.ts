import { type AsnFacts } from './asn-table';
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

/**
 * Autonomous systems of hosting and cloud providers; each number was checked against the shipped ASN data. Only networks that rent out
 * servers or serve pages for others belong here: a network that also connects homes would make its customers look like servers. All but
 * Cloudflare, Fastly, Imperva and Alibaba's Chinese network, which X4B's list of data centres of August 2026 does not have, have at least
 * 85 % of their addresses on that list. A configured Anonymous-IP file and the lists have many more.
 */
const HOSTING_NETWORKS: ReadonlyMap<number, string> = new Map([
  [3223, 'Voxility'],
  [4694, 'IDC Frontier'],
  [7203, 'LeaseWeb USA'],
  [7979, 'Servers.com'],
  [8075, 'Microsoft Azure'],
  [8560, 'IONOS'],
  [9009, 'M247'],
  [12586, 'GHOSTnet'],
  [12876, 'Scaleway'],
  [13335, 'Cloudflare'],
  [14061, 'DigitalOcean'],
  [14618, 'Amazon AWS'],
  [16276, 'OVH'],
  [16509, 'Amazon AWS'],
  [16625, 'Akamai'],
  [18779, 'EGIHosting'],
  [19318, 'InterServer'],
  [19437, 'PhoenixNAP (Secured Servers)'],
  [19551, 'Imperva'],
  [20454, 'PhoenixNAP (Secured Servers)'],
  [20473, 'Vultr'],
  [20860, 'iomart'],
  [20940, 'Akamai'],
  [21859, 'Zenlayer'],
  [23352, 'Deft'],
  [23470, 'ReliableSite'],
  [24940, 'Hetzner'],
  [25369, 'Hydra Communications'],
  [25820, 'IT7 Networks (BandwagonHost)'],
  [26496, 'GoDaddy'],
  [26548, 'PureVoltage'],
  [27411, 'LeaseWeb USA'],
  [28753, 'LeaseWeb Germany'],
  [29066, 'velia.net'],
  [29802, 'Hivelocity'],
  [30633, 'LeaseWeb USA'],
  [31898, 'Oracle Cloud'],
  [32475, 'Internap'],
  [33070, 'Rackspace'],
  [35908, 'Krypt'],
  [35916, 'Multacom'],
  [36007, 'Kamatera'],
  [36236, 'NetActuate'],
  [36351, 'IBM Cloud (SoftLayer)'],
  [36352, 'HostPapa (ColoCrossing)'],
  [37963, 'Alibaba Cloud China'],
  [40676, 'Psychz Networks'],
  [42473, 'Anexia'],
  [42708, 'GleSYS'],
  [42831, 'UK Dedicated Servers'],
  [44066, 'firstcolo'],
  [45090, 'Tencent Cloud China'],
  [45102, 'Alibaba Cloud'],
  [45671, 'Servers Australia'],
  [46475, 'Limestone Networks'],
  [46562, 'Performive'],
  [46606, 'Newfold Digital (Bluehost)'],
  [47583, 'Hostinger'],
  [49544, 'i3D.net'],
  [49981, 'WorldStream'],
  [51167, 'Contabo'],
  [51765, 'Crea Nova'],
  [54113, 'Fastly'],
  [54290, 'HostPapa'],
  [55286, 'B2 Net Solutions'],
  [55933, 'Cloudie'],
  [55990, 'Huawei Cloud China'],
  [56630, 'Melbikomas (Melbicom)'],
  [57169, 'EDIS'],
  [59253, 'LeaseWeb Singapore'],
  [59711, 'HZ Hosting'],
  [60068, 'Datacamp (CDN77)'],
  [60781, 'LeaseWeb'],
  [61157, 'PlusServer'],
  [62240, 'Clouvider'],
  [62904, 'Eonix'],
  [63018, 'Dedicated.com'],
  [63473, 'HostHatch'],
  [63949, 'Akamai Connected Cloud (Linode)'],
  [132203, 'Tencent Cloud'],
  [133296, 'Web Werks India'],
  [135377, 'UCloud'],
  [136907, 'Huawei Cloud'],
  [137409, 'GSL Networks'],
  [197540, 'netcup'],
  [203020, 'HostRoyale'],
  [204601, 'Zomro'],
  [204957, 'Green Floid'],
  [207990, 'HostRoyale'],
  [212238, 'Datacamp (CDN77)'],
  [216071, 'Servers Tech'],
  [262287, 'Latitude.sh (Maxihost)'],
  [395954, 'LeaseWeb USA'],
  [396190, 'LeaseWeb USA'],
  [396362, 'LeaseWeb USA'],
  [396982, 'Google Cloud'],
  [398101, 'GoDaddy'],
]);

/** True if the autonomous system belongs to a known hosting provider. */
export function isHostingNetwork(asn: number): boolean {
  return HOSTING_NETWORKS.has(asn);
}
