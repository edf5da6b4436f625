/**
 * Waits for some work, but no longer than its deadline. The work itself continues: its result may serve the next caller.
 * @throws what the work throws, or the error of `late` when the work takes longer
 */
export function withDeadline<T>(work: Promise<T>, deadlineMs: number, late: () => Error): Promise<T> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(late()), deadlineMs);
    work.then(done, fail).finally(() => clearTimeout(timer));
  });
}
