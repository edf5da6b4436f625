import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { foldersOfCommand, foldersOfStart, leadTo } from '../../cli/supervisor/find-folders';

let top: string;
/** The program's folder. */
let root: string;
let shop: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'tollgate-folders-'));
  [root, shop] = [join(top, 'tollgate'), join(top, 'shop')];
  for (const folder of [join(root, 'kong'), shop]) {
    mkdirSync(folder, { recursive: true });
    for (const name of ['catalogue.yml', 'kong.yml']) writeFileSync(join(folder, name), '');
  }
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

/** What a clone and an installed package are told when they are called in a folder. */
const clone = (here: string) => ({ root, home: root, here });
const installed = (here: string) => ({ root, home: here, here });
const foldersOf = ({ TOLLGATE_DATA_DIR, TOLLGATE_CONFIG }: NodeJS.ProcessEnv) => [TOLLGATE_DATA_DIR, TOLLGATE_CONFIG];

function run(dataDir: string, config: string): void {
  mkdirSync(dataDir, { recursive: true });
  const supervisor = { pid: 1, startedAt: '1' };
  writeFileSync(join(dataDir, 'state.json'), JSON.stringify({ supervisor, children: [], databaseUrl: 'postgres://h/d', dataDir, config }));
}

describe('a start', () => {
  it('keeps the data of a folder of what is sold in that folder, however it is named', () => {
    const expected = [join(shop, '.tollgate'), shop];
    expect(foldersOf(foldersOfStart(clone(top), {}, 'shop'))).toEqual(expected);
    expect(foldersOf(foldersOfStart(clone(top), { TOLLGATE_CONFIG: '../shop' }, undefined))).toEqual(expected);
    expect(foldersOf(foldersOfStart(installed(shop), {}, undefined))).toEqual(expected);
  });

  it('keeps the data of the example catalogue in the clone, and of an installed one where it was called, never in the program', () => {
    expect(foldersOf(foldersOfStart(clone(top), {}, undefined))).toEqual([join(root, '.tollgate'), undefined]);
    expect(foldersOf(foldersOfStart(clone(root), {}, 'kong'))).toEqual([join(root, '.tollgate'), join(root, 'kong')]);
    expect(foldersOf(foldersOfStart(installed(top), {}, undefined))).toEqual([join(top, '.tollgate'), undefined]);
  });

  it('keeps them where TOLLGATE_DATA_DIR says', () => {
    expect(foldersOf(foldersOfStart(clone(top), { TOLLGATE_DATA_DIR: '/data' }, 'shop'))).toEqual(['/data', shop]);
  });
});

describe('a command', () => {
  const isAlive = () => true;

  it('works on the instance that was started where it is called, and no longer when that has ended', () => {
    const data = join(shop, '.tollgate');
    run(data, shop);
    const endLead = leadTo(data, root);
    expect(foldersOf(foldersOfCommand(clone(root), {}, isAlive))).toEqual([data, shop]);
    expect(foldersOf(foldersOfCommand(clone(root), {}, () => false))).toEqual([join(root, '.tollgate'), undefined]);
    endLead();
    expect(foldersOf(foldersOfCommand(clone(root), {}, isAlive))).toEqual([join(root, '.tollgate'), undefined]);
    expect(existsSync(join(root, '.tollgate'))).toBe(false);
  });

  it('works on the folder in which it is called or which it names, whatever else runs', () => {
    run(join(top, '.tollgate'), join(root, 'kong'));
    const expected = [join(shop, '.tollgate'), shop];
    expect(foldersOf(foldersOfCommand(installed(shop), {}, isAlive))).toEqual(expected);
    expect(foldersOf(foldersOfCommand(installed(top), { TOLLGATE_CONFIG: shop }, isAlive))).toEqual(expected);
  });

  it('finds what runs by TOLLGATE_DATA_DIR alone', () => {
    run(join(top, 'data'), shop);
    const env = { TOLLGATE_DATA_DIR: join(top, 'data') };
    expect(foldersOf(foldersOfCommand(clone(root), env, isAlive))).toEqual([join(top, 'data'), shop]);
  });
});
