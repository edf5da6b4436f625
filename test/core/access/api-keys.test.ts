import {
  displayOf,
  generateAdminToken,
  generateApiKey,
  hashApiKey,
  isPlausibleAdminToken,
  isPlausibleKey,
  maskApiKey,
} from '../../../plugins/core/access/api-key';
import { fc, propertyRuns } from '../../support/fast-check';
import {
  headersToStrip,
  judgeFormKey,
  locateKey,
  looksLikeKey,
  withoutCopies,
  withoutKey,
} from '../../../plugins/core/access/credential-location';
import { KEY_PLACES, keyPlaceProblems, ownNamesOf, readKeyPlace, readKeyPlaces } from '../../../plugins/core/key-places';
import { isForm, readFormField } from '../../../plugins/core/access/form-body';
import { readings, readParameter, removeParameter } from '../../../plugins/core/access/raw-parameters';

describe('API keys', () => {
  it('have mode, 27 secret digits and a checksum that holds', () => {
    for (const mode of ['live', 'test'] as const) {
      const key = generateApiKey(mode);
      expect(key).toMatch(new RegExp(`^tg_${mode}_[0-9A-Za-z]{33}$`));
      expect(isPlausibleKey(key)).toBe(true);
    }
  });

  it('are refused without a look-up when any one character of a tg_ key is changed', () => {
    const key = generateApiKey('live');
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    fc.assert(
      fc.property(fc.nat({ max: key.length - 1 }), fc.nat({ max: 61 }), (at, pick) => {
        const digit = alphabet.charAt(pick);
        fc.pre(key[at] !== digit && at >= 'tg_live_'.length);
        expect(isPlausibleKey(key.slice(0, at) + digit + key.slice(at + 1))).toBe(false);
      }),
    );
  });

  it('of foreign form are plausible when they are printable and not overlong', () => {
    expect(isPlausibleKey('legacy-key-1234567890')).toBe(true);
    for (const text of ['', 'two words', 'tab\there', 'x'.repeat(513), 'schlüssel', 'tg_live_short'])
      expect(isPlausibleKey(text)).toBe(false);
  });

  it('are shown by prefix and last four only', () => {
    const key = generateApiKey('test');
    expect(maskApiKey(key)).toBe(`tg_test…${key.slice(-4)}`);
    expect(displayOf('short')).toEqual({ prefix: '', lastFour: '' });
    expect(maskApiKey(key)).not.toContain(key.slice(8, 35));
  });

  it('are no tokens of the management API, and those are no keys: no gateway looks one up', () => {
    const token = generateAdminToken();
    expect(token).toMatch(/^tg_admin_[0-9A-Za-z]{33}$/);
    expect([isPlausibleAdminToken(token), isPlausibleKey(token)]).toEqual([true, false]);
    expect(
      [generateApiKey('live'), `${token}0`, token.slice(0, -1), '', token.replace('admin', 'live')].map(isPlausibleAdminToken),
    ).not.toContain(true);
    expect(maskApiKey(token)).toBe(`…${token.slice(-4)}`);
  });

  it('hash to 64 hex digits', () => {
    expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

const all = new Set(KEY_PLACES);

function decodeOrKeep(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

describe('locating the key', () => {
  it('takes Bearer in any case, X-API-Key, and the query, in that order', () => {
    expect(locateKey({ authorization: 'bEaReR k1' }, '', all)).toEqual({ status: 'found', key: 'k1', place: 'authorization' });
    expect(locateKey({ 'x-api-key': 'k1' }, 'api_key=k1', all)).toEqual({ status: 'found', key: 'k1', place: 'x-api-key' });
    expect(locateKey({}, 'a=1&%61pi_key=k%31', all)).toEqual({ status: 'found', key: 'k1', place: 'query' });
  });

  it('finds a different key in another allowed place ambiguous, the same key not', () => {
    expect(locateKey({ authorization: 'Bearer a', 'x-api-key': 'b' }, '', all).status).toBe('ambiguous');
    expect(locateKey({ 'x-api-key': 'b' }, 'api_key=c', all).status).toBe('ambiguous');
    expect(locateKey({ authorization: 'Bearer a', 'x-api-key': 'a' }, 'api_key=a', all)).toMatchObject({
      status: 'found',
      place: 'authorization',
    });
  });

  it('finds a repeated header or query argument ambiguous even when the values agree', () => {
    expect(locateKey({ 'x-api-key': ['a', 'a'] }, '', all).status).toBe('ambiguous');
    expect(locateKey({ authorization: ['Bearer a', 'Basic b'] }, '', all).status).toBe('ambiguous');
    expect(locateKey({}, 'api_key=a&api_key=a', all).status).toBe('ambiguous');
    expect(locateKey({}, 'api_key=a&%61pi_key', all).status).toBe('ambiguous');
  });

  it('ignores places that the product does not allow', () => {
    const headerOnly = new Set(['x-api-key'] as const);
    expect(locateKey({ authorization: 'Bearer a' }, 'api_key=b', headerOnly).status).toBe('missing');
    expect(locateKey({ authorization: 'Bearer a', 'x-api-key': 'k' }, 'api_key=b', headerOnly)).toMatchObject({ key: 'k' });
  });

  it.each([
    [{}],
    [{ authorization: 'Basic dTpw' }],
    [{ authorization: 'Bearer ' }],
    [{ authorization: 'Bearer' }],
    [{ 'x-api-key': '' }],
    [{ x_api_key: 'k' }],
  ])('finds nothing in %p', (headers) => {
    expect(locateKey(headers, 'api_key&x=1', all).status).toBe('missing');
  });
});

describe('stripping', () => {
  it('leaves an Authorization that did not carry the key, unless it looks like one of ours', () => {
    expect(headersToStrip({ authorization: 'Basic dTpw' }, 'secret-key')).toEqual([]);
    for (const kind of ['live', 'test', 'admin'])
      expect(headersToStrip({ authorization: `Bearer tg_${kind}_other` }, 'secret-key')).toEqual(['authorization']);
  });
});

describe('a place with a name of the route’s own', () => {
  const places = readKeyPlaces(['form', 'query:shop-key', 'header:ApiKey', 'query', 'x-api-key', 'query:apikey']);
  const names = ownNamesOf(places);

  it('is read as it is written, a header in lower case, and looked at after ours', () => {
    expect([...places]).toEqual(['x-api-key', 'header:apikey', 'query', 'query:shop-key', 'query:apikey', 'form']);
    expect(names).toEqual({ headers: ['apikey'], parameters: ['shop-key', 'apikey'] });
  });

  it.each([
    ['header:Authorization', 'is written authorization'],
    ['header:x-api-key', 'is written x-api-key'],
    ['query:api_key', 'is written query'],
    ['header:X-Tollgate-Context', 'has another meaning'],
    ['header:x-tollgate', 'has another meaning'],
    ['header:Connection', 'has another meaning'],
    ['header:Proxy-Authorization', 'has another meaning'],
    ['header:content-type', 'has another meaning'],
    ['header:cookie', 'has another meaning'],
    ['header:x-forwarded-for', 'has another meaning'],
    ['header:x_api_key', 'must be one of'],
    ['header:api key', 'must be one of'],
    ['header:apikey\n', 'must be one of'],
    ['header:', 'must be one of'],
    ['header:-a', 'must be one of'],
    ['query:a&b', 'must be one of'],
    ['query:a.b', 'must be one of'],
    ['cookie', 'must be one of'],
    [`header:${'a'.repeat(65)}`, 'must be one of'],
  ])('is not %j', (text, problem) => {
    expect(readKeyPlace(text)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it('is named once', () => {
    expect(keyPlaceProblems(['header:apikey', 'header:APIKEY'])).toEqual(['names a place twice']);
    expect(keyPlaceProblems(['query:apikey', 'query:APIKEY', 'header:apikey'])).toEqual([]);
  });

  it.each([
    ['the header', { apikey: 'k' }, '', { status: 'found', key: 'k', place: 'header:apikey' }],
    ['the parameter, encoded', {}, 'shop%2Dkey=k', { status: 'found', key: 'k', place: 'query:shop-key' }],
    ['both with one key', { apikey: 'k' }, 'apikey=k', { status: 'found', key: 'k', place: 'header:apikey' }],
    ['both with different keys', { apikey: 'k' }, 'apikey=j', { status: 'ambiguous' }],
    ['ours with another key', { apikey: 'k', 'x-api-key': 'j' }, '', { status: 'ambiguous' }],
    ['the header twice', { apikey: ['k', 'k'] }, '', { status: 'ambiguous' }],
    ['the parameter twice', {}, 'apikey=k&%61pikey=k', { status: 'ambiguous' }],
    ['the parameter in other case', {}, 'ApiKey=k', { status: 'missing' }],
    ['a Bearer where none is taken', { authorization: 'Bearer k' }, '', { status: 'missing' }],
  ])('holds the key in %s', (_what, headers, query, found) => {
    expect(locateKey(headers, query, places)).toEqual(found);
  });

  it('is removed in every spelling, also where the key is elsewhere', () => {
    expect(withoutKey('a=1&apikey=k&shop%2dkey=j&api_key=i&b=2', names)).toBe('a=1&b=2');
    expect(headersToStrip({ apikey: 'k', 'x-shop-key': 'k', x_shop_key: 'k', accept: 'a' }, 'other', ['apikey', 'x-shop-key'])).toEqual([
      'apikey',
      'x-shop-key',
      'x_shop_key',
    ]);
  });
});

describe('copies of the key', () => {
  const key = `tg_live_${'a1B2'.repeat(8)}`;
  const escaped = (text: string, times: number): string =>
    times === 0
      ? text
      : escaped(
          text.replaceAll(/[%\w]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
          times - 1,
        );
  const spelled: [string, string][] = [
    ['itself', key],
    ['a part of an escaped address', encodeURIComponent(`https://shop.example/?api_key=${key}`)],
    ['escapes', escaped(key, 1)],
    ['escapes of escapes', escaped(key, 2)],
    ['escapes in capital letters', escaped(key, 1).toUpperCase()],
    ['one escape', key.replace('_', '%5F')],
    ['escapes beside malformed ones', `%zz%${key.replace('g', '%67')}%`],
  ];

  it.each(spelled)('are removed from a query, spelled as %s', (_what, copy) => {
    const rest = withoutCopies(`a=1%20&next=${copy}&b=%ff`, key);
    expect(rest).toMatch(/^a=1%20&next=.*&b=%ff$/);
    expect([...readings(rest)].join()).not.toContain(key);
    expect(looksLikeKey(`next=${copy}`)).toBe(true);
  });

  it.each(spelled)('take Cookie and Referer with them, spelled as %s', (_what, copy) => {
    expect(headersToStrip({ cookie: `last=${copy}`, referer: `/?k=${copy}` }, key)).toEqual(['cookie', 'referer']);
  });

  it('are found of a key of any visible characters', () => {
    const imported = 'k.*+?^${}()|[]\\/-k%41';
    expect(withoutCopies(`a=${encodeURIComponent(imported)}&b=1`, imported)).toBe('a=&b=1');
    expect(withoutCopies(`a=${imported}&b=1`, imported)).toBe('a=&b=1');
  });
});

describe('raw parameters', () => {
  it('are removed without touching any other byte', () => {
    expect(removeParameter('a=%20x&api_key=k&b=+&api_key&%61pi_key=z&c', 'api_key')).toBe('a=%20x&b=+&c');
    expect(removeParameter('my_api_key=1&api_keys=2', 'api_key')).toBe('my_api_key=1&api_keys=2');
  });

  it('never survive their removal, however they are spelled', () => {
    const piece = fc.constantFrom('api_key=k', '%61pi_key=1', 'api%5Fkey=2', 'api_key', 'x=1', '', 'api_keyx=1', 'y=%zz', 'api%5fke%79=3');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => readParameter(removeParameter(pieces.join('&'), 'api_key'), 'api_key').length === 0),
    );
  });
});

describe('text from strangers', () => {
  it('gives the same answers as a decoder that takes every parameter apart', () => {
    const piece = fc.constantFrom('api_key', '%61pi_key', 'api%5Fkey', 'api%5fkey', '%', '=', '&', '&', '=v', '%zz', '+', '%C3', 'a', '%2');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const raw = pieces.join('');
        const pairs = raw.split('&');
        const isKey = (pair: string): boolean => decodeOrKeep(pair.split('=', 1)[0] ?? '') === 'api_key';
        const valueOf = (pair: string): string => decodeOrKeep(pair.includes('=') ? pair.slice(pair.indexOf('=') + 1) : '');
        expect(readParameter(raw, 'api_key')).toEqual(pairs.filter(isKey).map(valueOf).slice(0, 2));
        expect(removeParameter(raw, 'api_key')).toBe(pairs.filter((pair) => !isKey(pair)).join('&'));
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });
});

describe('form keys', () => {
  const multipart = (parts: string[]): Buffer =>
    Buffer.from([...parts.map((part) => `--BB\r\n${part}\r\n`), '--BB--\r\n'].join(''), 'latin1');
  const type = 'multipart/form-data; boundary=BB';

  it('are found in urlencoded and multipart forms and cut out of them', () => {
    const urlencoded = readFormField('application/x-www-form-urlencoded', Buffer.from('a=1&api_key=k%31&b=%ff'), 'api_key');
    expect(urlencoded.values).toEqual(['k1']);
    expect(urlencoded.remove().toString('latin1')).toBe('a=1&b=%ff');
    const field = 'Content-Disposition: form-data; name="api_key"\r\n\r\nk1';
    const file = 'Content-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n\xff';
    const form = readFormField(type, multipart([field, file]), 'api_key');
    expect(form.values).toEqual(['k1']);
    expect(form.remove()).toEqual(multipart([file]));
    expect(readFormField(type, multipart([file, field, file]), 'api_key').remove()).toEqual(multipart([file, file]));
    expect(readFormField('multipart/form-data; boundary="BB"', multipart([file, field]), 'api_key').remove()).toEqual(multipart([file]));
  });

  it('repeated are ambiguous, empty are missing', () => {
    expect(judgeFormKey(['a', 'a']).status).toBe('ambiguous');
    expect(judgeFormKey(['']).status).toBe('missing');
    expect(judgeFormKey([]).status).toBe('missing');
  });

  it('are not found in what is no form, and no body makes the reader fail', () => {
    expect(isForm('application/json')).toBe(false);
    expect(isForm('application/x-www-form-urlencoded; charset=utf-8')).toBe(true);
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom(type, 'multipart/form-data', 'application/x-www-form-urlencoded'),
        (bytes, contentType) => {
          const field = readFormField(contentType, Buffer.from(bytes), 'api_key');
          if (field.values.length === 0) expect(field.remove()).toEqual(Buffer.from(bytes));
        },
      ),
    );
  });
});
