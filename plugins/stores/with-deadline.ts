/**
 * Waits for some work, but no longer than its deadline. The work itself goes on: what it finds may serve the next who asks.
 * @throws what the work throws; what `late` makes, when it takes longer
 */
export function withDeadline<T>(work: Promise<T>, deadlineMs: number, late: () => Error): Promise<T> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(late()), deadlineMs);
    work.then(done, fail).finally(() => clearTimeout(timer));
  });
}
