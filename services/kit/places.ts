import { type KeyMode } from '../../plugins/core/ports';
import { ServiceError } from './errors';

/** The subscription and mode for which work is done. */
export interface PlaceOwner {
  readonly subscriptionId: string;
  readonly mode: KeyMode;
}

export interface PlacesOptions {
  /** Places for all owners together. Test keys get half of them. Unbounded unless given. */
  readonly most?: number;
  /** Places for one subscription, all its keys together. */
  readonly mostOfOne: number;
  /** Public text for an owner who has places left while all places are taken. */
  readonly fullDetail?: string;
  /** Public text for an owner who holds all the places that one owner may hold. */
  readonly ownFullDetail?: string;
}

/** Gives the place back; further calls do nothing. */
export type ReleasePlace = () => void;

/** The half of the places that test keys may take. With more than one place, the last one is always there for live keys. */
export function shareOfTest(places: number): number {
  return Math.max(1, Math.floor(places / 2));
}

/**
 * A quarter of a worker's places, so that no subscription fills it alone. Of 16 places it is 4, as many as a subscription may use at once.
 */
export function shareOfOne(places: number): number {
  return Math.max(1, Math.floor(places / 4));
}

function detailOf(detail: string | undefined): { detail?: string } {
  return detail === undefined ? {} : { detail };
}

/** Counts the places of each holder. A caller for whom no place is left is refused without waiting. */
export class Places {
  private readonly held = new Map<string, number>();
  private total = 0;
  private ofTest = 0;

  constructor(private readonly options: PlacesOptions) {}

  /** Number of places that are held. */
  get taken(): number {
    return this.total;
  }

  /**
   * @throws ServiceError 429 `concurrency_exceeded` when the subscription holds all that it may; 503 `service_not_ready` when all places,
   * or all that test keys may take, are held
   */
  take({ subscriptionId, mode }: PlaceOwner): ReleasePlace {
    const { most = Infinity, mostOfOne, fullDetail, ownFullDetail } = this.options;
    if ((this.held.get(subscriptionId) ?? 0) >= mostOfOne) throw new ServiceError('concurrency_exceeded', detailOf(ownFullDetail));
    const isTest = mode === 'test';
    if (this.total >= most || (isTest && this.ofTest >= shareOfTest(most)))
      throw new ServiceError('service_not_ready', detailOf(fullDetail));
    this.add(subscriptionId, isTest, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.add(subscriptionId, isTest, -1);
      isHeld = false;
    };
  }

  private add(subscriptionId: string, isTest: boolean, change: 1 | -1): void {
    this.total += change;
    if (isTest) this.ofTest += change;
    const left = (this.held.get(subscriptionId) ?? 0) + change;
    if (left === 0) this.held.delete(subscriptionId);
    else this.held.set(subscriptionId, left);
  }
}
