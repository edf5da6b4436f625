import { hasSandbox, refusesTestKeys } from '../../../plugins/core/catalogue/catalogue';
import { CATALOGUE_BOUNDS } from '../../../plugins/core/catalogue/catalogue-schema';
import { parseCatalogue } from '../../../plugins/core/catalogue/parse-catalogue';

const HEAD = 'version: 1\nproducts:\n';
const weather = `  - id: api-weather
    title: Weather
    description: Tomorrow's weather.
    prefix: /weather
    routes:
      - { method: GET, path: '/weather/{city}', purpose: Forecast }
    base: { daily: 100, monthly: 1000 }
    plans:
      - { name: Gold, daily: 1000, monthly: 10000, price: 10.5, currency: EUR, approval: request }
`;
const tides = weather.replaceAll('weather', 'tides');

/** `line:column place message`, one a problem. */
const problemsOf = (text: string): string[] =>
  (parseCatalogue(text).problems ?? []).map(({ line, column, place, message }) => `${line}:${column} ${place} ${message}`);
const changed = (from: string, to: string): string[] => problemsOf(HEAD + weather.replace(from, to) + tides);

/** The catalogue with one more member in its first product. */
const withMember = (member: string): string => HEAD + weather.replace('    plans:\n', `    ${member}\n    plans:\n`) + tides;
const read = (member: string) => parseCatalogue(withMember(member)).catalogue?.find('api-weather');

describe('a catalogue', () => {
  it.each([
    ['uncharged: [health, not_modified, preflight]', { uncharged: ['health', 'not_modified', 'preflight'] }],
    ['units: { header: X-Units, reserve: 5, most: 1000 }', { units: { reserve: 5, most: 1_000 } }],
    ['units: { most: 1000 }', { units: { reserve: 1, most: 1_000 } }],
    [
      "sources: [{ name: Stations, url: 'https://example.com', as_of: 2026-06-05 }, { name: Radar }]",
      { sources: [{ name: 'Stations', url: 'https://example.com', asOf: '2026-06-05' }, { name: 'Radar' }] },
    ],
    ['key_in: [x-api-key]', { keyIn: ['x-api-key'] }],
    ['key_in: [query, header:ApiKey]', { keyIn: ['header:apikey', 'query'] }],
    ['large_bodies: true', { largeBodies: true }],
    ['also_admits: [api-old]', { alsoAdmits: ['api-old'] }],
    ['aliases: { /old/weather: "/weather/{city}" }', { aliases: { '/old/weather': '/weather/{city}' } }],
  ])('may say of a product: %s', (member, expected) => {
    expect(read(member)).toMatchObject(expected);
  });

  it.each<[string, ...string[]]>([
    ['uncharged: [health, health]', 'uncharged names one twice'],
    ['uncharged: [errors]', 'uncharged[0] '],
    ['units: { header: X-Tokens, most: 9 }', 'units.header must be X-Units: the access logs of the gateways name this header'],
    ['units: { reserve: 5, most: 4 }', 'units.most must be at least the reserve'],
    ['units: { reserve: 101, most: 200 }', 'units.reserve is above a daily limit: no request could be made'],
    ['units: { reserve: 0, most: 1.5 }', 'units.reserve ', 'units.most '],
    ['units: { reserve: 1 }', 'units.most '],
    ['sources: [{ name: Radar }, { name: Radar }]', 'sources names one twice'],
    ['sources: [{ name: Radar, as_of: 2026-02-30 }]', 'sources[0].as_of must be a day such as 2026-06-05'],
    [
      "sources: [{ name: Radar, url: 'javascript:alert(1)' }, { url: 'http://example.com' }]",
      'sources[0].url must be a URL that starts with https://',
      'sources[1].name is missing',
      'sources[1].url must be a URL that starts with https://',
    ],
    ['aliases: { /old/weather: /weather/never }', '/weather/never is not a route of the product'],
    ['key_in: [cookie]', 'key_in[0]'],
    ['key_in: [query, header:host]', 'key_in[1] the header host has another meaning'],
    ['test_keys: sandbox', 'test_keys'],
  ])('may not say of a product: %s', (member, ...problems) => {
    expect(problemsOf(withMember(member))).toEqual(problems.map((problem) => expect.stringContaining(problem)));
  });

  describe('with a rate', () => {
    const withRate = (rate: string): string =>
      HEAD + weather.replace('daily: 1000, monthly: 10000,', `daily: 1000, monthly: 10000, rate: ${rate},`);

    it.each([
      ['{ per_second: 10, burst: 20 }', { limit: 10, windowSeconds: 1, burst: 20 }],
      ['{ per_minute: 60, burst: 1 }', { limit: 60, windowSeconds: 60, burst: 1 }],
      ['{ per_minute: 1, burst: 1440 }', { limit: 1, windowSeconds: 60, burst: 1_440 }],
      ['{ per_second: 100000, burst: 100000 }', { limit: 100_000, windowSeconds: 1, burst: 100_000 }],
    ])('says how fast requests of a plan may come: %s', (rate, expected) => {
      expect(parseCatalogue(withRate(rate)).catalogue?.products[0]?.plans[0]?.rate).toEqual(expected);
    });

    it.each<[string, ...string[]]>([
      ['{ per_second: 10 }', '.burst '],
      ['{ burst: 10 }', ' must have exactly one of per_second and per_minute'],
      ['{ per_second: 1, per_minute: 60, burst: 1 }', ' must have exactly one of per_second and per_minute'],
      ['{ per_second: 0, burst: 0 }', '.per_second ', '.burst '],
      ['{ per_second: 1.5, burst: 1 }', '.per_second '],
      ['{ per_second: 100001, burst: 1 }', '.per_second '],
      ['{ per_minute: 6000001, burst: 1 }', '.per_minute '],
      ['{ per_minute: 1, burst: 1441 }', '.burst must be at most 1440, a day of the rate'],
      ['{ per_hour: 1, burst: 1 }', '.per_hour', ' must have exactly one of per_second and per_minute'],
      ['10', ' '],
    ])('is refused with %s', (rate, ...problems) => {
      const found = problemsOf(withRate(rate)).join('\n');
      for (const problem of problems) expect(found).toContain(`products[0].plans[0].rate${problem}`);
      expect(found).not.toBe('');
    });

    it('has none at the cap of a plan', () => {
      const cap = weather.replace(
        'approval: request',
        'approval: request, overage: { per: 1, price: 1, cap: { daily: 5000, monthly: 20000, rate: { per_second: 1, burst: 1 } } }',
      );
      expect(problemsOf(HEAD + cap).join()).toContain('rate');
    });
  });

  describe('that sells use above limits', () => {
    const gold = '{ name: Gold, daily: 1000, monthly: 10000, price: 10.5, currency: EUR, approval: request';
    const sells = (overage: string): string => weather.replace(gold, `${gold}, overage: ${overage}`);
    const CAP = 'cap: { daily: 5000, monthly: 20000 }';

    it('has its price in the decimals of the currency', () => {
      const { catalogue } = parseCatalogue(HEAD + sells(`{ per: 1000, price: 20, ${CAP} }`));
      const cap = { daily: 5_000, monthly: 20_000 };
      expect(catalogue?.products[0]?.plans[0]?.overage).toEqual({ per: 1_000, price: '20.00', cap });
    });

    it.each([
      ['{ per: 0, price: 20, cap: { daily: 999, monthly: 20000 } }', ['.per ']],
      [`{ per: 1, price: -20, ${CAP} }`, ['.price ']],
      [`{ per: 1, price: '0.001', ${CAP} }`, ['.price must have 2 decimals, as EUR has']],
      [
        '{ per: 1, price: 20, cap: { daily: 999, monthly: 9999 } }',
        [".cap.daily is below the plan's daily limit", ".cap.monthly is below the plan's monthly limit"],
      ],
      [
        '{ per: 1, price: 20, cap: { daily: 1000, monthly: 10000 } }',
        ['.cap must be above the limits of the plan, by the day or by the month'],
      ],
      ['{ per: 1, price: 20, cap: 5000 }', ['.cap ']],
      ['{ per: 1, price: 20 }', ['.cap ']],
    ])('is refused with %s', (overage, problems) => {
      const found = problemsOf(HEAD + sells(overage));
      expect(found).toEqual(problems.map((problem) => expect.stringContaining(`products[0].plans[0].overage${problem}`)));
    });

    it('is refused for a plan without a price', () => {
      const free = sells(`{ per: 1, price: 20, ${CAP} }`).replace('price: 10.5', 'price: 0');
      expect(problemsOf(HEAD + free)).toEqual([expect.stringContaining('products[0].plans[0].overage is for plans with a price')]);
    });
  });

  it.each([
    ['large_bodies: false', false, true],
    ['test_keys: live', false, false],
    ['test_keys: service', true, false],
    ['sandbox_url: http://127.0.0.1:9001', true, false],
  ])('refuses test keys of a product that says neither where nor how they are answered: %s', (member, sandbox, refuses) => {
    const product = read(member);
    expect([product && hasSandbox(product), product && refusesTestKeys(product)]).toEqual([sandbox, refuses]);
  });

  it('says once what answers test keys', () => {
    expect(problemsOf(withMember('sandbox_url: http://127.0.0.1:9001\n    test_keys: live'))).toEqual([
      expect.stringMatching(/^11:\d+ products\[0\]\.test_keys must be absent if sandbox_url/),
    ]);
  });

  it('is read with its defaults, and an amount that nobody quoted', () => {
    const { catalogue } = parseCatalogue(HEAD + weather);
    expect(catalogue?.find('api-weather')).toMatchObject({ subscribable: true, prefix: '/weather', base: { daily: 100, monthly: 1_000 } });
    expect(catalogue?.products[0]?.plans).toEqual([
      { name: 'Gold', daily: 1_000, monthly: 10_000, price: '10.50', currency: 'EUR', approval: 'request' },
    ]);
  });

  it.each([
    ["'4990'", 'JPY', '4990'],
    ["'4990.00'", 'JPY', '4990'],
    ["'4.990'", 'KWD', '4.990'],
    ['4.99', 'KWD', '4.990'],
    ["'12'", 'EUR', '12.00'],
  ])('writes %s %s with the decimals of its currency', (price, currency, written) => {
    const { catalogue } = parseCatalogue(HEAD + weather.replace('10.5, currency: EUR', `${price}, currency: ${currency}`));
    expect(catalogue?.products[0]?.plans[0]?.price).toBe(written);
  });

  it.each([
    ['stripe', "'4.990'", []],
    ['stripe', "'4.995'", ['11:59 products[0].plans[0].price must be in steps of 0.010: stripe charges no other KWD']],
    ['razorpay', "'4.995'", ['11:59 products[0].plans[0].price must be in steps of 0.010: razorpay charges no other KWD']],
    ['none', "'4.995'", []],
  ])('has with %s no price of three decimals such as %s that it does not charge', (provider, price, problems) => {
    const priced = weather.replace('10.5, currency: EUR, approval: request', `${price}, currency: KWD`);
    const seller = provider === 'none' ? ', seller: { name: A, address: [B], country: IN }, invoices: { from: 2026-01 }' : '';
    expect(problemsOf(`${HEAD}${priced}billing: { provider: ${provider}${seller} }\n`)).toEqual(problems);
  });

  it('promises no promotion codes where the payment page takes none', () => {
    const billing = (provider: string): string => `billing: { provider: ${provider}, payments: { promotion_codes: true } }\n`;
    expect(problemsOf(HEAD + weather + billing('stripe'))).toEqual([]);
    expect(problemsOf(HEAD + weather + billing('razorpay'))).toEqual([
      '12:61 billing.payments.promotion_codes must be false: razorpay’s page accepts none',
    ]);
  });

  it('names no product as a page of the reference', () => {
    expect(changed('id: api-weather', 'id: errors')).toEqual(['3:9 products[0].id is the name of a page of the reference']);
  });

  it('knows the line of each product in the file, wherever its members and comments stand', () => {
    const flow =
      '  - { id: api-one, title: One, description: One., prefix: null, routes: [], base: null, subscribable: false, plans: [] }\n';
    const aside = `  # A comment.\n  -\n${weather.replace('  - ', '    ')}`;
    const { catalogue } = parseCatalogue(HEAD + flow + tides + aside, 'kong/catalogue.yml');
    const text = (HEAD + flow + tides + aside).split('\n');
    expect(catalogue?.source).toEqual({ file: 'kong/catalogue.yml', lines: { 'api-one': 3, 'api-tides': 4, 'api-weather': 15 } });
    expect(text[15 - 1]).toContain('api-weather');
  });

  it('of no file has no lines', () => {
    expect(parseCatalogue(HEAD + weather).catalogue?.source).toBeUndefined();
  });

  it('may be empty', () => {
    expect(parseCatalogue('version: 1\nproducts: []\n').catalogue?.products).toEqual([]);
  });

  it.each<[string, string, string, ...string[]]>([
    ['a title that is missing', 'title: Weather\n    ', '', '3:5 products[0].title is missing'],
    ['a member that is none', 'title: W', 'colour: blue\n    title: W', '4:5 products[0].colour this member does not exist'],
    ['a limit that is none', 'daily: 100,', 'daily: many,', '9:20 products[0].base.daily Invalid input: expected number, received string'],
    ['a price with a decimal too many', '10.5', '10.555', '11:59 products[0].plans[0].price must have 2 decimals, as EUR has'],
    [
      'yen with decimals',
      '10.5, currency: EUR',
      "'10.50', currency: JPY",
      '11:59 products[0].plans[0].price must have no decimals, as JPY has',
    ],
    [
      'a route outside its prefix',
      "'/weather/{",
      "'/wetter/{",
      '8:30 products[0].routes[0].path /wetter/{city} is not below the prefix /weather',
    ],
    ['an id twice', 'id: api-weather', 'id: api-tides', '12:9 products[1].id product api-tides already exists'],
    [
      'a prefix below another',
      'prefix: /weather',
      'prefix: /tides/weather',
      '6:13 products[0].prefix /tides/weather lies below /tides, the prefix of api-tides',
      '8:30 products[0].routes[0].path /weather/{city} is not below the prefix /tides/weather',
    ],
    [
      'a product that nobody can call and that is for sale',
      'prefix: /weather',
      'prefix: null',
      '3:5 products[0].subscribable must be false if prefix is null: a product that cannot be called is not sold',
      '8:30 products[0].routes[0].path /weather/{city} is not below the prefix',
    ],
    [
      'a product without limits that is for sale',
      'base: { daily: 100, monthly: 1000 }',
      'base: null',
      '3:5 products[0].subscribable must be false if base is null: customers cannot subscribe without limits',
    ],
    [
      'an id that no URL can hold',
      'id: api-weather',
      'id: API Weather',
      '3:9 products[0].id must be at most 63 small letters, digits and -, beginning with a letter',
    ],
  ])('with %s is refused with its line and column', (_what, from, to, ...problems) => {
    expect(changed(from, to)).toEqual(problems);
  });

  it('is refused with every problem at once', () => {
    expect(
      problemsOf(`${HEAD}${weather.replace('title: Weather', 'title: 7').replace('GET', 'FETCH')}${tides.replace('EUR', 'euro')}`),
    ).toEqual([
      '4:12 products[0].title Invalid input: expected string, received number',
      expect.stringMatching(/^8:19 products\[0\]\.routes\[0\]\.method /),
      expect.stringMatching(/^20:75 products\[1\]\.plans\[0\]\.currency must be a code of ISO 4217/),
    ]);
  });

  it.each([
    ['an unfinished list', 'base: {', 'base: ['],
    ['a member that stands twice', '    prefix', '    title: Again\n    prefix'],
    ['a tab', '    prefix', '\tprefix'],
  ])('whose YAML has %s is refused with the place', (_what, from, to) => {
    const [problem = '', ...rest] = changed(from, to);
    expect(problem).toMatch(/^\d+:\d+ /);
    expect(rest.length).toBeLessThan(10);
  });

  it.each([
    ['a text', '"no"'],
    ['nothing', ''],
    ['a list', '- 1'],
  ])('that is %s is refused', (_what, text) => {
    expect(problemsOf(text).length).toBeGreaterThan(0);
  });

  it('that is larger than anybody’s is refused before it is read', () => {
    expect(problemsOf('#'.repeat(CATALOGUE_BOUNDS.bytes + 1))).toEqual(['1:1  is larger than 4 MiB']);
  });

  it('whose lists name each other is refused before they unfold', () => {
    const names = 'abcdefghi'.split('');
    const list = (name: string, index: number): string =>
      `${name}: &${name} [${Array(9)
        .fill(index ? `*${names[index - 1]}` : 'x')
        .join(', ')}]`;
    expect(problemsOf(`${names.map(list).join('\n')}\nversion: 1\nproducts: *i\n`)).toEqual([
      '1:1  refers to its own parts too often by aliases',
    ]);
  });

  it.each([
    ['lists', '[', ']'],
    ['objects', '{a: ', '}'],
    ['lists in lines', '- ', ''],
    ['keys that are objects', '? ', ''],
  ])('that nests %s deeper than anybody’s is refused before it is read', (_what, open, close) => {
    const nested = (levels: number): string => `version: 1\nproducts:\n  ${open.repeat(levels)}a${close.repeat(levels)}\n`;
    expect(problemsOf(nested(700))).toEqual([expect.stringMatching(/^3:\d+ {2}is nested more than 100 levels deep$/)]);
    expect(problemsOf(nested(90)).join()).not.toContain('levels deep');
  });

  it('with a tag that YAML does not define is refused with the place', () => {
    expect(changed('title: Weather', 'title: !secret Weather')).toEqual(['4:12  Unresolved tag: !secret']);
  });

  it('that names one list in each of a thousand products is refused before anything walks it', () => {
    const plan = '{ name: A, daily: 1, monthly: 1, price: "1.00", currency: INR }';
    const lists = `a: &a ${plan}\nb: &b [${Array(CATALOGUE_BOUNDS.plans + 1)
      .fill('*a')
      .join(', ')}]\n`;
    const products = Array(1_000).fill('  - { id: x, plans: *b }').join('\n');
    expect(problemsOf(`${lists}version: 1\nproducts:\n${products}`)[0]).toMatch(/has more than 50 plans$/);
    expect(problemsOf(`${HEAD}${'  - 1\n'.repeat(CATALOGUE_BOUNDS.products + 1)}`)).toEqual(['3:3 products has more than 5000 products']);
  });
});
