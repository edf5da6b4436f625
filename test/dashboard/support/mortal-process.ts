import { type Pool, type PoolClient } from 'pg';
import { type PaymentPort } from '../../../services/selling/billing/payment-port';

class Killed extends Error {}

export interface MortalProcess {
  /** Its connections to the database. */
  readonly db: Pool;
  /** Its way to the payment provider. */
  readonly port: PaymentPort;
  readonly isDead: () => boolean;
}

/**
 * A process that is killed at one of its steps: a query, or a request to the payment provider. What it did before stays done; a transaction
 * that was open is rolled back as its connection breaks, and whatever it still tries does not happen.
 * @param death at which step, from 1, and whether just before it or when it was carried out and its answer not yet read
 */
export function mortalProcess(
  { pool, port }: { pool: Pool; port: PaymentPort },
  death: { readonly step: number; readonly when: 'before' | 'after' },
): MortalProcess {
  let steps = 0;
  let isDead = false;

  async function step<T>(work: () => Promise<T>): Promise<T> {
    if (isDead) throw new Killed();
    steps += 1;
    const isLast = steps === death.step;
    if (isLast) isDead = true;
    if (isLast && death.when === 'before') throw new Killed();
    const answer = await work();
    if (isLast) throw new Killed();
    return answer;
  }

  /** The same object, with those of its methods that are steps. */
  const stepping = <T extends object>(of: T, isStep: (name: string) => boolean, own: Partial<Record<string, unknown>> = {}): T =>
    new Proxy(of, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof name === 'string' && name in own) return own[name];
        if (typeof member !== 'function') return member;
        const call = (...given: unknown[]): Promise<unknown> => Reflect.apply(member, target, given) as Promise<unknown>;
        return typeof name === 'string' && isStep(name) ? (...given: unknown[]) => step(() => call(...given)) : call;
      },
    });

  const clientOf = (client: PoolClient): PoolClient =>
    stepping(client, (name) => name === 'query', { release: (broken?: Error) => client.release(broken ?? isDead) });
  return {
    db: stepping(pool, (name) => name === 'query', { connect: async () => clientOf(await pool.connect()) }),
    port: stepping(port, () => true),
    isDead: () => isDead,
  };
}
