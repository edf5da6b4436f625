import { execFileSync } from 'node:child_process';

const THIRDS = ['0', '1', '2'];

/** Which third of the scenes this run plays: SCENES says it, else the commit chooses. */
function thirdOfRun(): string {
  const asked = process.env['SCENES'];
  if (asked !== undefined && (asked === 'all' || THIRDS.includes(asked))) return asked;
  if (asked !== undefined) throw new Error(`SCENES is "${asked}", and can be all, 0, 1 or 2`);
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' });
  return String(parseInt(commit.slice(0, 8), 16) % 3);
}

/** Every third of a long list, for `npm test`: three commits in a row are likely to play all. `SCENES=all` keeps the whole list. */
export function chosenThird<T>(all: readonly T[]): readonly T[] {
  const third = thirdOfRun();
  return third === 'all' ? all : all.filter((_, index) => String(index % 3) === third);
}
