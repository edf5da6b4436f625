import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hasSandbox } from '../../../plugins/core/catalogue/catalogue';
import { catalogueJsonSchema } from '../../../plugins/core/catalogue/catalogue-schema';
import { CATALOGUE, PRODUCTS } from '../../support/catalogue';
import { EXAMPLE_NAMES } from '../../support/example-names';
import { decimalsOf, fitsDecimals, fromMinor, shareOf, toMinor, toSafeNumber } from '../../../plugins/core/catalogue/money';
import { fc } from '../../support/fast-check';
import { unitsOf } from '../../../plugins/core/catalogue/units';

/** The customer's published table (specification, part 8): id, base day, base month, Star day, Star month, price. */
const PUBLISHED = `
api-aadhaar 1000 30000 4000 120000 999.00
api-app 100000 1000000 200 6000 999.00
api-background-remover 1000 30000 100000 3000000 499.00
api-glead 1000 30000 100000 3000000 999.00
api-gdplay 1000 30000 1000000 30000000 599.00
api-grank 1000 30000 1000000 10000000 499.00
api-gst 1000 30000 100000 3000000 499.00
api-image 1000 30000
api-ip 1000 30000 100000 3000000 499.00
api-pincode 1000 30000 100000 3000000 499.00
api-seo 1000 30000 10000 300000 999.00
api-vahaan 1000 30000 200 6000 999.00
api-vahan 1000 30000`;

/** Published paths (specification, parts 1 and 4). */
const PUBLISHED_PATHS = `
/aadhaar /aadhaar/start /aadhaar/captcha /aadhaar/otp
/app /app/analyze /app/health
/background_remover
/glead /glead/health /glead/search
/gdplay /gdplay/stream /gdplay/thumbnail
/grank /grank/health /grank/search /grank/position
/gst /gst/start /gst/data /gst/refresh_captcha
/image/background_remover
/ip
/pincode
/seo /seo/health /seo/authority /seo/backlinks /seo/keywords /seo/link_pyramid /seo/serp /seo/spam
/vahaan`;

describe('the catalogue', () => {
  it('has every figure of the published table', () => {
    const rows = PRODUCTS.filter((product) => product.base).map(({ id, base, plans }) =>
      [id, base?.daily, base?.monthly, ...plans.flatMap((plan) => [plan.daily, plan.monthly, plan.price])].join(' '),
    );
    expect(rows).toEqual(expect.arrayContaining(PUBLISHED.trim().split('\n')));
  });

  it('names the days of the data that its IP lookup is installed with', () => {
    const dayOf = (name: string): string => {
      const { version } = JSON.parse(readFileSync(`node_modules/@ip-location-db/${name}/package.json`, 'utf8')) as { version: string };
      return version.replace(/^\d+\.\d+\.(\d{4})(\d\d)(\d\d)\d*$/, '$1-$2-$3');
    };
    const days = CATALOGUE.find('api-ip')?.sources?.map(({ asOf }) => asOf);
    expect(days).toEqual([dayOf('dbip-city-mmdb'), dayOf('asn')]);
  });

  it('has every published path', () => {
    const paths = PRODUCTS.flatMap(({ routes }) => routes.map(({ path }) => path));
    expect(paths).toEqual(expect.arrayContaining(PUBLISHED_PATHS.trim().split(/\s+/)));
  });

  it('has routes under their prefix, none for vahan and pan', () => {
    for (const { prefix, routes } of PRODUCTS) for (const route of routes) expect(route.path.startsWith(prefix ?? '?')).toBe(true);
    expect(PRODUCTS.filter((product) => product.routes.length === 0).map((product) => product.id)).toEqual(['api-vahan', 'api-pan']);
    expect(CATALOGUE.find('constructor')).toBeUndefined();
  });

  it('lists api-vahan and api-pan, and sells neither', () => {
    expect(PRODUCTS.filter(({ subscribable }) => !subscribable).map(({ id }) => id)).toEqual(['api-vahan', 'api-pan']);
  });

  it('says of every product that can be called that its service answers test keys from a sandbox', () => {
    for (const product of PRODUCTS) expect([product.id, hasSandbox(product)]).toEqual([product.id, product.prefix !== null]);
  });

  it('prices every plan in rupees, free to take', () => {
    const plans = PRODUCTS.flatMap(({ plans: offered }) => offered);
    expect(new Set(plans.map(({ currency, approval }) => `${currency} ${approval}`))).toEqual(new Set(['INR automatic']));
  });

  it('has a schema for editors that says what the parser takes, and names it in its first line', () => {
    const [first] = readFileSync('kong/catalogue.yml', 'utf8').split('\n');
    expect(first).toBe('# yaml-language-server: $schema=./catalogue.schema.json');
    expect(JSON.parse(readFileSync('kong/catalogue.schema.json', 'utf8'))).toEqual(JSON.parse(JSON.stringify(catalogueJsonSchema())));
  });
});

const ROOT = resolve(__dirname, '../../..');

/** The example catalogue itself, its gateways' files, its services with their workers and sandbox, and what is known of these services. */
const EXAMPLE: readonly RegExp[] = [
  /^kong\/(catalogue|kong)\.yml$/,
  /^kong\/kubernetes\/(example\/|kong\.yaml$)/,
  /^kong\/gateways\/envoy\.yaml$/,
  /^services\/(products|sandbox|workers)\//,
  // The first migration is applied already and stays as it is.
  /^plugins\/stores\/postgres\/migrations\/0001_catalogue\.sql$/,
];

const files = ['plugins', 'cli', 'kong', 'services'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1)),
);

it('reads all that is not the example catalogue’s', () => {
  expect(files.filter((file) => !EXAMPLE.some((own) => own.test(file))).length).toBeGreaterThan(500);
  for (const own of EXAMPLE) expect(files.filter((file) => own.test(file))).not.toEqual([]);
});

it('names no product of the example catalogue outside of it', () => {
  const named = files
    .filter((file) => !EXAMPLE.some((own) => own.test(file)) && !/\.(png|ico|woff2|mmdb)$/.test(file))
    .flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .flatMap((line, index) => (EXAMPLE_NAMES.test(line) ? [`${file}:${index + 1} ${line.trim().slice(0, 120)}`] : [])),
    );
  expect(named).toEqual([]);
});

const currency = fc.constantFrom('INR', 'EUR', 'JPY', 'KWD', 'CLF', 'XAF');

describe('an amount of money', () => {
  it('has the decimals of ISO 4217', () => {
    expect(['INR', 'USD', 'JPY', 'KRW', 'KWD', 'TND', 'CLF', null].map(decimalsOf)).toEqual([2, 2, 0, 0, 3, 3, 4, 2]);
  });

  it('reads as it was written, in every currency', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), currency, (amount, code) => {
        const text = fromMinor(amount, code);
        expect(text.split('.')[1]?.length ?? 0).toBe(decimalsOf(code));
        expect(toMinor(text, code)).toBe(amount);
        expect(fitsDecimals(text, code)).toBe(true);
      }),
    );
    expect([fromMinor(-9_500, 'KWD'), fromMinor(5, 'INR'), fromMinor(999, 'JPY')]).toEqual(['-9.500', '0.05', '999']);
  });

  it('rounds what its currency cannot hold half up, and says that it cannot', () => {
    expect([toMinor('10.49', 'JPY'), toMinor('10.50', 'JPY'), toMinor('1.0005', 'KWD')]).toEqual([10n, 11n, 1_001n]);
    expect([fitsDecimals('10.50', 'JPY'), fitsDecimals('10.00', 'JPY'), fitsDecimals('1.0005', 'KWD')]).toEqual([false, true, false]);
  });

  it.each(['', '-1', '1e3', 'NaN', '1,000', ' 1'])('is not %p', (text) => {
    expect(() => toMinor(text, 'INR')).toThrow(RangeError);
  });

  it('is shared out without losing or inventing a unit, rounded half up', () => {
    expect([shareOf(1n, 1n, 2n), shareOf(1n, 49n, 100n), shareOf(99_900n, 10n, 31n)]).toEqual([1n, 0n, 32_226n]);
    expect(() => toSafeNumber(2n ** 53n)).toThrow(RangeError);
  });
});

it.each([
  ['3', 3],
  ['0', 0],
  ['007', 7],
  ['9'.repeat(30), 100],
  ['9'.repeat(31), 5],
  [undefined, 5],
  ['', 5],
  ['-1', 5],
  ['1.5', 5],
  ['1e3', 5],
  ['2, 3', 5],
  [' 3', 5],
])('an answer that says %j, with 5 units taken and 100 at most, costs %i', (told, cost) => {
  expect(unitsOf(told, 5, 100)).toBe(cost);
});

it('an answer of a product that does not charge by answers costs what was taken', () => {
  expect(unitsOf('3', 5, undefined)).toBe(5);
});
