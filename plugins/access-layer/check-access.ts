import { checkSubscription } from '../core/access/subscription';
import { checkWhitelist } from '../core/access/whitelist';
import { type AccessLayerDeps, type AccessRequest, type Denial } from './access-request';

/** Step 2: checks 1 to 5 of the specification, in its order, and whether the product serves test keys. */
export function checkAccess(request: AccessRequest, deps: AccessLayerDeps): Promise<Denial | undefined> {
  return Promise.resolve(decide(request, deps.clock.now()));
}

function decide(request: AccessRequest, nowMs: number): Denial | undefined {
  const { link } = request;
  const verdict = checkSubscription(request.record, link ? [link.product] : request.config.products, nowMs);
  if (!verdict.ok) return { code: verdict.denial, ...(verdict.suspended === undefined ? {} : { suspended: verdict.suspended }) };
  request.subscription = verdict.subscription;
  // The unit for this viewing was taken from this key's subscription. If either has changed since, the viewing is not paid for.
  const isOwn = request.record?.credentialId === link?.credentialId && verdict.subscription.id === link?.subscriptionId;
  if (link && !isOwn) return { code: 'link_not_valid' };
  const whitelist = request.record?.whitelist;
  if (!whitelist) return { code: 'key_unknown' };
  const admitted = checkWhitelist(whitelist, { address: request.callerAddress, originHost: request.originHost });
  if (!admitted.admitted) return { code: 'caller_not_whitelisted' };
  request.matchedRule = admitted.rule;
  // Without a sandbox the request would reach the live API of somebody else, on a counter that no statement prices.
  if (request.record?.mode !== 'live' && !verdict.subscription.takesTestKeys) return { code: 'sandbox_missing' };
  return undefined;
}
