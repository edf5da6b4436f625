/** One step of a walk whose steps stand on each other, and are therefore one test. A failure names its step. */
export async function step(what: string, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new Error(`the walk ended where it ${what}`, { cause: error });
  }
}
