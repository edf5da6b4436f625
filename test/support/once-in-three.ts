/**
 * A check of a bound that is published in milliseconds, made again when it failed: a machine that gave a process no turn breaks one
 * measurement, a defect breaks every one.
 * @param check measures afresh each time
 * @throws what the third check throws
 */
export function onceInThree(check: () => Promise<void>): Promise<void> {
  return onceIn(3, check);
}

/** The same for measurements that other work on the machine reaches oftener: what is really slow is slow in all of them. */
export async function onceIn(tries: number, check: () => Promise<void>): Promise<void> {
  for (let failures = 0; ;) {
    try {
      return await check();
    } catch (error) {
      if (++failures === tries) throw error;
      process.stderr.write(`measured again after: ${String(error).slice(0, 600)}\n`);
    }
  }
}
