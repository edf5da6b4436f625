import { LINK_PARAMETER, type AccessLink } from '../core/proof/access-link';
import { parseIpAddress } from '../core/access/ip-address';
import { readParameter } from '../core/access/raw-parameters';
import { type AccessLayerDeps, type AccessRequest, type Denial } from './access-request';

/** A link can only read. */
const METHODS = new Set(['GET', 'HEAD']);

const DENIALS = {
  forged: { code: 'link_not_valid' },
  expired: { code: 'link_not_valid', detail: 'This link has expired. Make another.' },
  elsewhere: { code: 'link_not_valid', detail: 'This link was made for another address.' },
} as const satisfies Record<string, Denial>;

/** The links of a request without a key. More than one counts as invalid. */
export function findLinks({ method, rawQuery }: AccessRequest): readonly string[] {
  return METHODS.has(method) ? readParameter(rawQuery, LINK_PARAMETER).filter((text) => text.startsWith('tgl_')) : [];
}

/**
 * Step 1 for a link in place of a key: finds the record of the key that the link was made with. From there on the link is judged as that
 * key would be, by its present record.
 */
export async function resolveLink(tokens: readonly string[], request: AccessRequest, deps: AccessLayerDeps): Promise<Denial | undefined> {
  request.keyPlace = 'link';
  const [token = '', ...more] = tokens;
  if (!deps.links || more.length > 0) return DENIALS.forged;
  const opened = deps.links.open(token, deps.clock.now() / 1000);
  if (!opened.ok) return DENIALS[opened.reason];
  const { link } = opened;
  if (!request.config.products.includes(link.product)) return DENIALS.forged;
  if (!isFor(link, request.callerAddress)) return DENIALS.elsewhere;
  request.link = link;
  const hash = await deps.links.findKeyHash(link.credentialId);
  request.record = hash === undefined ? undefined : await deps.records.findAccessRecord(hash);
  return undefined;
}

function isFor({ address }: AccessLink, callerAddress: string): boolean {
  return address === undefined || address === parseIpAddress(callerAddress)?.text;
}
