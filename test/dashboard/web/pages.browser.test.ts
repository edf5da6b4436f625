import { inTestAll } from '../../support/scenes';
import { inaccessibleInBoth } from '../support/axe';
import { brokenWords, crowded, cutTables, narrowFaults, type WatchedPage } from '../support/browser';
import { EVERY_PAGE } from '../support/every-page';
import { type Scene } from '../support/scene';
import { SceneStage } from '../support/scene-stage';
import { SCENES } from '../support/scenes';
import { unnamedParts, unreachedByTab } from '../support/walk';

const PHONE = { width: 360, height: 740 };

let stage: SceneStage;
beforeAll(async () => {
  stage = await SceneStage.start();
});
afterAll(() => stage.close());

async function faultsOf({ page, complaints }: WatchedPage): Promise<string[]> {
  const found = await inaccessibleInBoth(page);
  const touching = (await crowded(page)).map((text) => `without space above: ${text}`);
  const wide = [...(await cutTables(page)), ...(await brokenWords(page))];
  return [...found, ...complaints, ...touching, ...wide, ...(await narrowFaults(page, PHONE))];
}

/** Those that people use most, and that the seller does. */
const MAIN = [
  ...['overview', 'keys', 'key', 'plans', 'usage', 'requests', 'explain', 'team'],
  ...['seller-home', 'seller-customers', 'seller-customer', 'seller-requests', 'seller-explain', 'seller-products', 'seller-billing'],
];
const isMain = ({ name }: Scene): boolean => MAIN.includes(name);

/**
 * One of each kind: a list, a form, charts, a page of the seller; an entrance, a full and an empty page, money, a dialog, a refusal.
 * Public pages are looked at in test/dashboard/storefront/public.browser.test.ts.
 */
const ONE_OF_A_KIND = [
  ...['requests', 'key', 'usage', 'seller-customer'],
  ...['sign-in', 'keys-full', 'overview-empty', 'invoice', 'created-key', 'verify-wrong-password'],
];
const oneOfAKind = ({ name }: Scene): jest.It => (ONE_OF_A_KIND.includes(name) ? it : inTestAll);
const walked = async ({ page }: WatchedPage): Promise<string[]> => [...(await unnamedParts(page)), ...(await unreachedByTab(page))];

const SOUND =
  'has nothing that axe finds in either scheme, no error under its policy, space between its parts, and fits its tables, a phone and every word';

describe.each(EVERY_PAGE.filter((scene) => !isMain(scene)))('the page $name', (scene) => {
  oneOfAKind(scene)(SOUND, async () => {
    expect(await stage.play(scene, faultsOf)).toEqual([]);
  });
});

describe.each(EVERY_PAGE.filter(isMain))('the main page $name', (scene) => {
  oneOfAKind(scene)(`${SOUND}; is walked by the keyboard alone, and says name and role of its every part`, async () => {
    const both = async (watched: WatchedPage): Promise<string[]> => [...(await walked(watched)), ...(await faultsOf(watched))];
    expect(await stage.play(scene, both)).toEqual([]);
  });
});

describe.each(SCENES)('the scene $name', (scene) => {
  oneOfAKind(scene)(SOUND, async () => {
    expect(await stage.play(scene, faultsOf)).toEqual([]);
  });
});
