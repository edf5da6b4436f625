import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
const pool = Buffer.allocUnsafe(ID_BYTES * 256);
let used = pool.length;

/** 32 hexadecimal digits from the system's generator, drawn in blocks because one system call per request is measurable. */
export function randomId(): string {
  if (used >= pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const id = pool.toString('hex', used, used + ID_BYTES);
  used += ID_BYTES;
  return id;
}
