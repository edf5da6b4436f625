import { type RequestContext } from '../../../plugins/core/proof/context-token';
import { ServiceError } from '../errors';

export interface RequiredUnits {
  /** What the gateway takes for such a request (kong.yml, `post_units`). */
  readonly units: number;
  /** Public text for who asks at a gateway that takes less. */
  readonly detail: string;
}

/**
 * No dear request is answered for the price of a cheap one, whatever a gateway's configuration forgets.
 * @throws ServiceError 503 `upstream_not_configured`
 */
export function requireUnits({ chargedDay, units: taken = 1 }: RequestContext, { units, detail }: RequiredUnits): void {
  if (chargedDay === null || taken >= units) return;
  const cause = new Error(`the gateway counts this request as ${taken} units: set post_units to ${units}`);
  throw new ServiceError('upstream_not_configured', { detail, cause });
}
