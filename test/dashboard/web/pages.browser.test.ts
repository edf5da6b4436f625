import { chosenThird } from '../../support/sample';
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
  ...['home', 'product', 'overview', 'keys', 'key', 'plans', 'usage', 'requests', 'explain', 'team'],
  ...['seller-home', 'seller-customers', 'seller-customer', 'seller-requests', 'seller-explain', 'seller-products', 'seller-billing'],
];
const isMain = ({ name }: Scene): boolean => MAIN.includes(name);
const walked = async ({ page }: WatchedPage): Promise<string[]> => [...(await unnamedParts(page)), ...(await unreachedByTab(page))];

const SOUND =
  'has nothing that axe finds in either scheme, no error under its policy, space between its parts, and fits its tables, a phone and every word';

describe.each(chosenThird(EVERY_PAGE.filter((scene) => !isMain(scene))))('the page $name', (scene) => {
  it(SOUND, async () => {
    expect(await stage.play(scene, faultsOf)).toEqual([]);
  });
});

describe.each(chosenThird(EVERY_PAGE.filter(isMain)))('the main page $name', (scene) => {
  it(`${SOUND}; is walked by the keyboard alone, and says name and role of its every part`, async () => {
    const both = async (watched: WatchedPage): Promise<string[]> => [...(await walked(watched)), ...(await faultsOf(watched))];
    expect(await stage.play(scene, both)).toEqual([]);
  });
});

describe.each(chosenThird(SCENES))('the scene $name', (scene) => {
  it(SOUND, async () => {
    expect(await stage.play(scene, faultsOf)).toEqual([]);
  });
});
