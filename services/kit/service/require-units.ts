import { type RequestContext } from '../../../plugins/core/proof/context-token';
import { ServiceError } from '../errors';

export interface RequiredUnits {
  /** Units that the gateway takes for such a request (kong.yml, `post_units`). */
  readonly units: number;
  /** Public text for a caller whose gateway takes fewer units. */
  readonly detail: string;
}

/**
 * Refuses an expensive request that was charged as a cheap one, whatever a gateway's configuration forgets.
 * @throws ServiceError 503 `upstream_not_configured`
 */
export function requireUnits({ chargedDay, units: taken = 1 }: RequestContext, { units, detail }: RequiredUnits): void {
  if (chargedDay === null || taken >= units) return;
  const cause = new Error(`the gateway counts this request as ${taken} units: set post_units to ${units}`);
  throw new ServiceError('upstream_not_configured', { detail, cause });
}
