import { type Suspension } from '../../selling/customers/suspension-view';
import { type Endpoint, type EndpointName } from '../contract/endpoint';
import { isChange } from './bind-endpoint';
import { Refusal } from './refusal';

/** What is asked, by a person or by a token. */
export interface Asked {
  readonly name: EndpointName;
  readonly endpoint: Endpoint;
}

/**
 * One rule for sessions and tokens: a suspended customer may read, take things away and leave, but change nothing else.
 * @throws Refusal 403 `customer_suspended`
 */
export function refuseSuspended(suspended: Suspension | null | undefined, { name, endpoint }: Asked): void {
  if (!suspended || endpoint.whileSuspended || !isChange(name, endpoint)) return;
  throw new Refusal('customer_suspended', suspended.reason === '' ? {} : { detail: sentence(suspended.reason) });
}

function sentence(reason: string): string {
  return `The seller suspended this account: ${reason}${/[.?!]$/.test(reason) ? '' : '.'}`;
}
