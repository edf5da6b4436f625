import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../../../services/kit/log';
import { WatchedFolder } from '../../../services/dashboard/storefront/sellers-folder';

const NEVER_MS = 3_600_000;
let folder: string;
let watched: WatchedFolder;
let logged = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-shop-'));
  logged = '';
});
afterEach(() => {
  watched.close();
  rmSync(folder, { recursive: true });
});

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

function watch(): void {
  const log = createLog('dashboard', { level: 'info', destination: { write: (line) => void (logged += line) } });
  watched = new WatchedFolder({ settings: { TOLLGATE_CONFIG: folder }, log, lookMs: NEVER_MS });
}

/** After a save. @returns whether anything is another */
function look(): boolean {
  const { revision } = watched;
  watched.look();
  return watched.revision !== revision;
}

it('takes a brand, a logo, a guide and a changelog as soon as each is saved', () => {
  watch();
  expect([watched.brand.name, watched.pages.changelog, look()]).toEqual(['Tollgate', undefined, false]);
  write('brand.yml', 'name: Acme\n');
  expect([look(), watched.brand.name]).toEqual([true, 'Acme']);
  write('logo.svg', '<svg/>');
  write('brand.yml', 'name: Acme\nlogo: { light: logo.svg }\n');
  expect([look(), String(watched.brand.logo?.bytes)]).toEqual([true, '<svg/>']);
  write('logo.svg', '<svg id="2"/>');
  expect([look(), String(watched.brand.logo?.bytes)]).toEqual([true, '<svg id="2"/>']);
  mkdirSync(join(folder, 'docs'));
  write('docs/rain.md', '# Rain\n');
  expect([look(), watched.pages.docs.at(-1)?.title]).toEqual([true, 'Rain']);
  rmSync(join(folder, 'docs/rain.md'));
  expect([look(), watched.pages.docs.some(({ slug }) => slug === 'rain')]).toEqual([true, false]);
  write('changelog.md', '# Changes\n');
  expect([look(), watched.pages.changelog?.text, look()]).toEqual([true, '# Changes\n', false]);
  expect(logged).toBe('');
});

it.each([
  { kind: 'a brand with an unknown member', file: 'brand.yml', text: 'nmae: Acme\n' },
  { kind: 'a brand that is no YAML', file: 'brand.yml', text: 'name: [\n' },
  { kind: 'a logo that is not there', file: 'brand.yml', text: 'logo: { light: none.png }\n' },
  { kind: 'a guide with a name that no address has', file: 'docs/Über uns.md', text: '# Us\n' },
  { kind: 'a guide that is too long', file: 'docs/long.md', text: 'x'.repeat(262_145) },
  { kind: 'a changelog that is too long', file: 'changelog.md', text: 'x'.repeat(262_145) },
])('keeps what was read before over $kind, and names the file once', ({ file, text }) => {
  mkdirSync(join(folder, 'docs'));
  write('brand.yml', 'name: Acme\n');
  write('docs/rain.md', '# Rain\n');
  write('changelog.md', '# Changes\n');
  watch();
  const before = [watched.brand, watched.pages];
  write(file, text);
  watched.look();
  watched.look();
  expect([watched.brand.name, watched.pages.docs.at(-1)?.title, watched.pages.changelog?.text]).toEqual(['Acme', 'Rain', '# Changes\n']);
  expect(before[file === 'brand.yml' ? 0 : 1]).toBe(file === 'brand.yml' ? watched.brand : watched.pages);
  const lines = logged.trim().split('\n');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(file === 'brand.yml' && text.startsWith('logo') ? 'logo.light of brand.yml' : join(folder, file));
  rmSync(join(folder, file));
  expect(look()).toBe(true);
  expect(watched.brand.name).toBe(file === 'brand.yml' ? 'Tollgate' : 'Acme');
});

it('takes a logo that comes after the brand that names it', () => {
  write('brand.yml', 'name: Acme\nlogo: { light: logo.svg }\n');
  watch();
  expect(watched.brand.name).toBe('Tollgate');
  write('logo.svg', '<svg/>');
  expect([look(), watched.brand.name]).toEqual([true, 'Acme']);
});
