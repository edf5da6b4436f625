import { GATEWAY_KINDS } from '../../kong/gateways/render';

/** `1`, `2` or `3` in `npm test`; `all` in `npm run test:all` and for a file that is run by itself. */
const SAMPLE = process.env['TEST_SAMPLE'] ?? 'all';

export const isSampled = SAMPLE !== 'all';

/**
 * How to declare one scene on one of the other gateways. A sampled run takes each scene on one gateway, the next sample on the next; the
 * others are reported as skipped. A real Kong, which nobody has who did not name it, gets every scene.
 * @param scene its number within its file
 */
export function sceneOn(kind: string, scene: number): jest.It {
  const index = GATEWAY_KINDS.findIndex((each) => each === kind);
  if (!isSampled || index < 0 || index === (scene + Number(SAMPLE)) % GATEWAY_KINDS.length) return it;
  return it.skip;
}

/** How to declare one of three long tests: a sampled run takes one, and reports the others as skipped. @param scene its number among them */
export function thirdOf(scene: number): jest.It {
  return isSampled && scene !== Number(SAMPLE) ? it.skip : it;
}

/** Every third of a long list in a sampled run, and the whole list in others. */
export function chosenThird<T>(all: readonly T[]): readonly T[] {
  return isSampled ? all.filter((_, index) => (index % 3) + 1 === Number(SAMPLE)) : all;
}
