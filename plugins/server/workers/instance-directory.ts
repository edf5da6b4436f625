import { randomInt } from 'node:crypto';
import { type Ask } from './asking';

/** A plugin configuration as Kong sent it. */
export interface StartedInstance {
  readonly name: string;
  /** JSON. */
  readonly config: string;
}

/** Finds instances that Kong started on another worker's connection, for the workers of one server. */
export interface InstanceDirectory {
  /** @returns the id of the new instance, known to every worker from then on */
  start(instance: StartedInstance): Promise<number>;
  find(id: number): Promise<StartedInstance | undefined>;
  forget(id: number): void;
}

export type DirectoryQuestion =
  | { readonly what: 'start'; readonly instance: StartedInstance }
  | { readonly what: 'find'; readonly id: number }
  | { readonly what: 'forget'; readonly id: number };

/** The bound of one process (instances.ts). Beyond it, the instance unused for longest is dropped, and Kong starts it again. */
const MAX_INSTANCES = 4_096;

/** The parent's list. Ids begin at a random number, because an old id must not name another route's configuration after a restart. */
export class InstanceList {
  private readonly instances = new Map<number, StartedInstance>();
  private nextId = randomInt(1, 2 ** 30);

  answer(question: DirectoryQuestion): number | StartedInstance | undefined {
    switch (question.what) {
      case 'start':
        return this.add(question.instance);
      case 'find':
        return this.find(question.id);
      case 'forget':
        this.instances.delete(question.id);
        return undefined;
    }
  }

  private add(instance: StartedInstance): number {
    // A gateway would need centuries for 2^30 starts.
    const id = this.nextId++;
    this.instances.set(id, instance);
    for (const oldest of this.instances.keys()) {
      if (this.instances.size <= MAX_INSTANCES) break;
      this.instances.delete(oldest);
    }
    return id;
  }

  private find(id: number): StartedInstance | undefined {
    const instance = this.instances.get(id);
    if (instance === undefined) return undefined;
    this.instances.delete(id);
    this.instances.set(id, instance);
    return instance;
  }
}

/** The list from a worker's side. */
export function directoryOfParent(ask: Ask): InstanceDirectory {
  const put = (question: DirectoryQuestion): Promise<unknown> => ask(question);
  return {
    start: async (instance) => (await put({ what: 'start', instance })) as number,
    find: async (id) => (await put({ what: 'find', id })) as StartedInstance | undefined,
    forget: (id) => void put({ what: 'forget', id }),
  };
}
