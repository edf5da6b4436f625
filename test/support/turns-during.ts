/**
 * CPU time in milliseconds of each turn of the event loop while `work` runs, shortest first: a busy machine takes time away that no turn has used.
 * @param next how the next look is asked for; each takes a turn of its own
 */
export async function turnsDuring(work: () => Promise<unknown>, next: (look: () => void) => void = setImmediate): Promise<number[]> {
  const turns: number[] = [];
  let last = process.cpuUsage();
  let isOver = false;
  const look = (): void => {
    turns.push(process.cpuUsage(last).user / 1_000);
    last = process.cpuUsage();
    if (!isOver) next(look);
  };
  next(look);
  await work();
  isOver = true;
  return turns.sort((a, b) => a - b);
}
