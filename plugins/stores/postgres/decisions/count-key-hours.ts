import { type Decision } from '../../../core/ports';
import { refusalIn, statusOf } from '../../../core/problems';

/** Requests with one key for one product in one hour of the quota time zone. */
export interface KeyHour {
  readonly credentialId: string;
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** Whole hours since the day began, 0 to 24. */
  readonly hour: number;
  readonly product: string;
  admitted: number;
  /** Refusals with a status of 400 to 499. */
  refused: number;
  /** Refusals with a status of 500 to 599. */
  unavailable: number;
  /** Requests without a line in the log: admitted requests, and all others. */
  admittedUnlogged: number;
  refusedUnlogged: number;
}

type Place = Pick<KeyHour, 'credentialId' | 'day' | 'hour' | 'product'>;

interface Entry {
  /** Counts since they were last returned; undefined when nothing was counted. */
  counts: KeyHour | undefined;
  /** Admissions of the whole hour on this node. */
  admitted: number;
}

/**
 * Admissions of one key for one product, in an hour on a node, that all get a line: one a second. A week of such hours is 600,000 lines and
 * the log holds 5,000,000, so a customer with few requests finds all of them for a week.
 */
const LOGGED_WHOLLY = 3_600;
/**
 * Admissions of one customer, with all keys for all products, that all get a line: five a second. A customer with many keys must not fill
 * the log for the others.
 */
const LOGGED_OF_CUSTOMER = 5 * LOGGED_WHOLLY;
/** Above the bound, one admission in 100 gets a line; above a hundred times the bound, one in 1,000. */
const [ONE_OF, ONE_OF_FEW] = [100, 1_000];

/**
 * True when an admission of an hour has a line in the log.
 * @param place counted from 1
 * @param wholly number of admissions that all have one
 */
export function isLogged(place: number, wholly = LOGGED_WHOLLY): boolean {
  if (place <= wholly) return true;
  return place % (place <= wholly * ONE_OF ? ONE_OF : ONE_OF_FEW) === 0;
}

const nameOf = ({ credentialId, day, hour, product }: Place): string => `${credentialId} ${day} ${hour} ${product}`;

/** Counts requests by key, product and hour until they are written: one row in the database for many requests. */
export class KeyHours {
  /** Entries of the present hour. */
  private entries = new Map<string, Entry>();
  /** Each customer's admissions of the hour that their keys' bounds let into the log. */
  private customers = new Map<string, number>();
  /** Counts of earlier hours, until they are returned. */
  private readonly late = new Map<string, Entry>();
  private changed: Entry[] = [];
  private day = '';
  private hour = -1;

  /**
   * @param customerId the key's customer
   * @returns whether the request gets a line in the log: every refusal does, and a sample of many admissions
   */
  count(place: Place, outcome: Decision['outcome'], customerId?: string): boolean {
    const entry = this.enter(place);
    const counts = this.countsOf(entry, place);
    const refusal = refusalIn(outcome);
    if (refusal !== undefined) {
      counts[statusOf(refusal) < 500 ? 'refused' : 'unavailable'] += 1;
      return true;
    }
    counts.admitted += 1;
    if (outcome !== 'admitted') return true;
    entry.admitted += 1;
    if (isLogged(entry.admitted) && this.hasRoom(customerId)) return true;
    counts.admittedUnlogged += 1;
    return false;
  }

  private hasRoom(customerId: string | undefined): boolean {
    if (customerId === undefined) return true;
    const place = (this.customers.get(customerId) ?? 0) + 1;
    this.customers.set(customerId, place);
    return isLogged(place, LOGGED_OF_CUSTOMER);
  }

  /** Notes that a counted request got no line in the log. */
  noteUnlogged(place: Place, outcome: Decision['outcome']): void {
    this.countsBefore(place)[refusalIn(outcome) === undefined ? 'admittedUnlogged' : 'refusedUnlogged'] += 1;
  }

  /** Returns all counts and starts again. An hour that has just ended may have two for one key and product. */
  take(): KeyHour[] {
    const taken = this.changed.flatMap(({ counts }) => counts ?? []);
    for (const entry of this.changed) entry.counts = undefined;
    this.changed = [];
    this.late.clear();
    return taken;
  }

  /** Takes back counts that could not be written. */
  putBack(hours: readonly KeyHour[]): void {
    for (const hour of hours) {
      const counts = this.countsBefore(hour);
      for (const name of COUNTS) counts[name] += hour[name];
    }
  }

  /** The entry of a present request. A new hour starts the counts for the sample again. */
  private enter(place: Place): Entry {
    const { day, hour } = place;
    if (hour !== this.hour || day !== this.day) {
      this.day = day;
      this.hour = hour;
      this.entries = new Map();
      this.customers = new Map();
    }
    return entryIn(this.entries, nameOf(place));
  }

  /** The counts of an earlier request, whose hour may have ended. */
  private countsBefore(place: Place): KeyHour {
    const name = nameOf(place);
    return this.countsOf(this.entries.get(name) ?? entryIn(this.late, name), place);
  }

  private countsOf(entry: Entry, { credentialId, day, hour, product }: Place): KeyHour {
    if (entry.counts) return entry.counts;
    this.changed.push(entry);
    entry.counts = { credentialId, day, hour, product, admitted: 0, refused: 0, unavailable: 0, admittedUnlogged: 0, refusedUnlogged: 0 };
    return entry.counts;
  }
}

function entryIn(entries: Map<string, Entry>, name: string): Entry {
  let entry = entries.get(name);
  if (!entry) entries.set(name, (entry = { counts: undefined, admitted: 0 }));
  return entry;
}

const COUNTS = ['admitted', 'refused', 'unavailable', 'admittedUnlogged', 'refusedUnlogged'] as const;
