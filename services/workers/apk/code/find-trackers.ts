import { type CheckedFacts, type TrackerFacts } from '../report';
import catalogue from './trackers.json';

const BY_PREFIX: ReadonlyMap<string, TrackerFacts> = new Map(
  catalogue.trackers.flatMap(({ name, category, classes }) =>
    classes.map((prefix) => [prefix, { name, category, matched: prefix }] as const),
  ),
);

/** Maximum segments of a class name that are compared. No package name in the list is longer. */
const MAX_SEGMENTS = 8;

/** Collects the trackers whose classes an app contains. */
export class TrackerFinder {
  private readonly found = new Map<string, TrackerFacts>();

  /** @param descriptor such as `Lcom/example/Main;` */
  look(descriptor: string): void {
    const parts = descriptor.slice(1, -1).split('/', MAX_SEGMENTS);
    for (let length = 2; length <= parts.length; length++) {
      const tracker = BY_PREFIX.get(parts.slice(0, length).join('.'));
      if (tracker && !this.found.has(tracker.name)) this.found.set(tracker.name, tracker);
    }
  }

  list(): TrackerFacts[] {
    return [...this.found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

/** @param ok false when some code could not be read, which may hold a tracker */
export function checkedTrackers(ok: boolean): CheckedFacts {
  return { source: 'tracker_list', as_of: catalogue.asOf, ok, entries: catalogue.trackers.length };
}
