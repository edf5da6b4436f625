import { hash, verify } from '@node-rs/argon2';

/** OWASP's figures for argon2id: 19 MiB, 2 passes, 1 lane. Some 20 ms on a thread of the pool, so that sign-ins do not block others. */
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** @returns a PHC string, `$argon2id$…`: the library's default algorithm, which the database insists on */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFKC'), OPTIONS);
}

export function verifyPassword({ hash: stored, password }: { hash: string; password: string }): Promise<boolean> {
  return verify(stored, password.normalize('NFKC'));
}
