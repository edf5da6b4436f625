import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accentSheet, textOn } from '../../../services/dashboard/brand/accent';
import { readToken } from '../../../services/dashboard/brand/tokens';
import { readBrand } from '../../../services/dashboard/brand/brand';

describe('the look of an installation', () => {
  it('has text on its colour that can be read', () => {
    expect([textOn('#ffffff'), textOn('#ffd400'), textOn('#3b5bdb'), textOn('#000000')]).toEqual(['#000', '#000', '#fff', '#fff']);
  });

  it('is refused at the start when its logo cannot be read', () => {
    const brand = { DASHBOARD_NAME: 'Acme', DASHBOARD_COLOUR: '#A0B0C0', DASHBOARD_LOGO: '/nowhere/logo.svg' };
    expect(() => readBrand(brand)).toThrow('DASHBOARD_LOGO cannot be read');
    expect(readBrand({ ...brand, DASHBOARD_LOGO: undefined })).toMatchObject({ name: 'Acme', colour: '#a0b0c0' });
    expect(readBrand({ ...brand, DASHBOARD_LOGO: `${__dirname}/../../../services/dashboard/web/public/icon.svg` }).logo?.contentType).toBe(
      'image/svg+xml',
    );
  });
});

it.each([
  ['Acme', '#0b6e4f', 'fill="#fff">A</text>'],
  ['ähre', '#ffd400', 'fill="#000">Ä</text>'],
  ['<b>', '#000000', 'fill="#fff">&lt;</text>'],
])('stands in the seller’s colour for a name without a logo: %s', (name, colour, letter) => {
  const { logo } = readBrand({ DASHBOARD_NAME: name, DASHBOARD_COLOUR: colour, TOLLGATE_CONFIG: tmpdir() });
  expect(logo?.contentType).toBe('image/svg+xml');
  expect(String(logo?.bytes)).toContain(letter);
  expect(String(logo?.bytes)).toContain(`fill="${colour}"`);
  expect(readBrand({ TOLLGATE_CONFIG: tmpdir() }).logo).toBeUndefined();
});

describe('brand.yml', () => {
  const folders: string[] = [];
  afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));
  const folderWith = (text: string): { TOLLGATE_CONFIG: string } => {
    const folder = mkdtempSync(join(tmpdir(), 'brand-'));
    folders.push(folder);
    writeFileSync(join(folder, 'brand.yml'), text);
    writeFileSync(join(folder, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    return { TOLLGATE_CONFIG: folder };
  };

  it('gives name, accent, logos, words and links; a setting goes before it', () => {
    const folder = folderWith(
      'name: Acme\naccent: "#0B6E4F"\nlogo: { light: logo.svg, dark: logo.svg }\nheadline: Weather, by the hour\nlinks: { terms: /terms }\n',
    );
    const brand = readBrand(folder);
    expect([brand.name, brand.colour, brand.logo?.contentType, brand.darkLogo?.contentType]).toEqual([
      'Acme',
      '#0b6e4f',
      'image/svg+xml',
      'image/svg+xml',
    ]);
    expect(brand.words).toMatchObject({ headline: 'Weather, by the hour', links: { terms: '/terms' }, powered_by: true });
    expect(readBrand({ ...folder, DASHBOARD_NAME: 'Other' }).name).toBe('Other');
  });

  it.each([
    ['name: [', 'is not valid YAML'],
    ['nmae: Acme', 'Unrecognized key: "nmae"'],
    ['accent: green', 'accent: must be a colour'],
    ['links: { terms: "javascript:alert(1)" }', 'links.terms: must be a URL that starts with https://'],
    ['links: { terms: //evil.example }', 'links.terms: must be a URL that starts with https://'],
    ['support: nobody', 'support: must be an email address'],
    ['logo: { light: logo.exe }', 'logo.light: must be a file that ends in .svg, .png or .webp'],
    ['logo: { light: gone.svg }', 'logo.light of brand.yml cannot be read'],
  ])('is refused at the start, with the place of the mistake: %s', (text, message) => {
    expect(() => readBrand(folderWith(text))).toThrow(message);
  });

  it.each(['#ffd400', '#0b6e4f', '#000000', '#ffffff', '#3b5bdb'])(
    'makes links of the accent %s that can be read in both schemes',
    (accent) => {
      const [, light = '', dark = ''] = /--link:light-dark\((#\w+), (#\w+)\)/.exec(accentSheet(accent)) ?? [];
      // Links that carry black or white text as their ground are dark or light enough themselves.
      expect([textOn(light), textOn(dark)]).toEqual(['#fff', '#000']);
    },
  );

  it.each(['#ffd400', '#0b6e4f', '#000000', '#c78457', '#3b5bdb', '#4060dd'])(
    'draws the first series of charts in the accent %s, and every other in a colour of its own',
    (accent) => {
      const sheet = accentSheet(accent);
      const [, link] = /--link:light-dark\((#\w+), /.exec(sheet) ?? [];
      const changed = new Map([...sheet.matchAll(/--(chart-\d):light-dark\((#\w+), /g)].map(([, name, light]) => [name, light]));
      expect(changed.get('chart-1')).toBe(link);
      const all = [1, 2, 3, 4, 5, 6, 7].map((at) => changed.get(`chart-${at}`) ?? readToken(`chart-${at}`).light);
      expect(new Set(all).size).toBe(all.length);
      expect([...changed.values()].filter((colour) => colour !== link)).toEqual(
        ['#3b5bdb', '#4060dd'].includes(accent) ? [] : [readToken('chart-1').light],
      );
    },
  );
});
