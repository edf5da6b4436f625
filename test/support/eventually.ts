import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until a condition holds; the limit is long because it only decides how late a failure is reported. */
export async function eventually(condition: () => boolean | Promise<boolean>, limitMs = 60_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('the condition did not come true');
    await sleep(10);
  }
}
