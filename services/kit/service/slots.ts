import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { type RequestContext } from '../../../plugins/core/proof/context-token';
import { Places, type ReleasePlace } from '../places';

/**
 * Takes a slot for a request.
 * @throws ServiceError 429 `concurrency_exceeded` when all slots of its subscription are in use
 */
export type TakeSlot = (proof: RequestContext) => ReleasePlace;

const nothing: ReleasePlace = () => undefined;

/**
 * Creates the slots of heavy products: how many requests of one subscription this process serves at a time. Requests for other products are
 * not counted.
 * @param override replaces the catalogue's numbers for every heavy product
 */
export function createSlots(catalogue: Catalogue, override?: number): TakeSlot {
  const byCount = new Map<number, Places>();
  return (proof) => {
    const published = catalogue.find(proof.product)?.slots;
    if (published === undefined) return nothing;
    const mostOfOne = override ?? published;
    const places = byCount.get(mostOfOne) ?? new Places({ mostOfOne });
    byCount.set(mostOfOne, places);
    return places.take(proof);
  };
}
