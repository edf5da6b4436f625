/**
 * Autonomous systems of large hosting and cloud providers; each number was checked against the shipped ASN data. Only networks that rent
 * out servers belong here: a provider that also connects homes would make its customers look like servers. A configured Anonymous-IP
 * file knows many more.
 */
const HOSTING_NETWORKS: ReadonlyMap<number, string> = new Map([
  [8075, 'Microsoft Azure'],
  [12876, 'Scaleway'],
  [13335, 'Cloudflare'],
  [14061, 'DigitalOcean'],
  [14618, 'Amazon AWS'],
  [16276, 'OVH'],
  [16509, 'Amazon AWS'],
  [19551, 'Imperva'],
  [20473, 'Vultr'],
  [24940, 'Hetzner'],
  [26496, 'GoDaddy'],
  [31898, 'Oracle Cloud'],
  [36351, 'IBM Cloud (SoftLayer)'],
  [37963, 'Alibaba Cloud China'],
  [45090, 'Tencent Cloud China'],
  [45102, 'Alibaba Cloud'],
  [46606, 'Newfold Digital (Bluehost)'],
  [51167, 'Contabo'],
  [54113, 'Fastly'],
  [60781, 'LeaseWeb'],
  [63949, 'Akamai Connected Cloud (Linode)'],
  [132203, 'Tencent Cloud'],
  [133296, 'Web Werks India'],
  [396982, 'Google Cloud'],
  [398101, 'GoDaddy'],
]);

/** True when the autonomous system is a known hosting provider's. */
export function isHostingNetwork(asn: number): boolean {
  return HOSTING_NETWORKS.has(asn);
}
