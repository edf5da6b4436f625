import { type KeyMode } from '../../plugins/core/ports';
import { ServiceError } from './errors';

/** Whose work it is. */
export interface PlaceOwner {
  readonly subscriptionId: string;
  readonly mode: KeyMode;
}

export interface PlacesOptions {
  /** For all owners together; test keys get half of them. Unbounded unless given. */
  readonly most?: number;
  /** For one subscription, of all its keys. */
  readonly mostOfOne: number;
  /** Public text for an owner whose own places are left and everybody's are not. */
  readonly fullDetail?: string;
  /** Public text for an owner who holds all that he may. */
  readonly ownFullDetail?: string;
}

/** Gives the place back; further calls do nothing. */
export type ReleasePlace = () => void;

/** The half of the places that test keys may take: the last one is always there for live keys, where there is more than one. */
export function shareOfTest(places: number): number {
  return Math.max(1, Math.floor(places / 2));
}

/** A quarter of a worker's places, so that no subscription fills it alone: 4 of 16, as many as it may use at once. */
export function shareOfOne(places: number): number {
  return Math.max(1, Math.floor(places / 4));
}

function detailOf(detail: string | undefined): { detail?: string } {
  return detail === undefined ? {} : { detail };
}

/** Counts how many places each holder has. A caller who finds none is refused without waiting. */
export class Places {
  private readonly held = new Map<string, number>();
  private total = 0;
  private ofTest = 0;

  constructor(private readonly options: PlacesOptions) {}

  /** Places that are held. */
  get taken(): number {
    return this.total;
  }

  /**
   * @throws ServiceError 429 `concurrency_exceeded` when the subscription holds all that it may; 503 `service_not_ready` when too few
   *   are left for anybody, or for a test key
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
