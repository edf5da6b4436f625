import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { ServiceError } from '../../kit/errors';

/** OWASP's figures for argon2id: 19 MiB, 2 passes, 1 lane. Some 20 ms on a thread of the pool, so that sign-ins do not block others. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** One for each thread of Node's pool. They take 76 MiB of memory. */
const MAX_AT_ONCE = 4;
/** Half a second of work. Later requests are refused rather than kept waiting. */
const MAX_WAITING = 64;

/** Hashes and verifies passwords, a few at a time, because each takes memory and a thread that other work needs. */
export interface PasswordHasher {
  /** @returns a PHC string, `$argon2id$…`: the library's default algorithm, which the database requires */
  hash(password: string): Promise<string>;
  verify(given: { readonly hash: string; readonly password: string }): Promise<boolean>;
}

/**
 * Both methods throw ServiceError 503 `service_not_ready` with Retry-After while too many passwords wait.
 * @param cost for tests of other subjects
 */
export function createPasswordHasher(cost: Readonly<typeof COST> = COST): PasswordHasher {
  const limit = pLimit(MAX_AT_ONCE);

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (limit.pendingCount >= MAX_WAITING) throw new ServiceError('service_not_ready', { headers: { 'Retry-After': '1' } });
    return limit(work);
  }

  return {
    hash: (password) => inTurn(() => hash(password.normalize('NFKC'), cost)),
    verify: ({ hash: stored, password }) => inTurn(() => verify(stored, password.normalize('NFKC'))),
  };
}
