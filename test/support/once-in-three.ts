/**
 * A check of a bound that is published in milliseconds, made again when it failed: a machine that gave a process no turn breaks one
 * measurement, a defect breaks every one.
 * @param check measures afresh each time
 * @throws what the third check throws
 */
export async function onceInThree(check: () => Promise<void>): Promise<void> {
  for (let failures = 0; ;) {
    try {
      return await check();
    } catch (error) {
      if (++failures === 3) throw error;
    }
  }
}
