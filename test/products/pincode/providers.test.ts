import { createGeonamesProvider } from '../../../services/products/pincode/geonames-provider';
import { indiaProvider } from '../../../services/products/pincode/india-provider';
import { type PinProvider } from '../../../services/products/pincode/provider';
import { zippopotamProvider } from '../../../services/products/pincode/zippopotam-provider';

function judged(provider: PinProvider, status: number, body: unknown): string {
  const verdict = provider.judge(status, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
  return verdict.usable ? 'usable' : verdict.reason;
}

const office = { Name: 'New Delhi ', BranchType: 'Head Post Office', Pincode: '110001' };

describe('the India provider', () => {
  it('asks for PINs and for encoded names', () => {
    expect(indiaProvider.pathOf({ kind: 'pin', text: '110001' })).toBe('/pincode/110001');
    expect(indiaProvider.pathOf({ kind: 'office', text: 'a/../b ?&#' })).toBe('/postoffice/a%2F..%2Fb%20%3F%26%23');
  });

  it.each([
    ['records without a block', 200, [{ Message: 'm', Status: 'Success', PostOffice: [office] }], 'usable'],
    ['no records', 200, [{ Message: 'No records found', Status: 'Error', PostOffice: null }], 'no_records'],
    ['status 404 in a 200', 200, [{ Message: 'm', Status: '404', PostOffice: null }], 'no_records'],
    ['success with an empty list', 200, [{ Message: 'm', Status: 'Success', PostOffice: [] }], 'no_records'],
    ['success without a list', 200, [{ Message: 'm', Status: 'Success', PostOffice: null }], 'no_records'],
    ['an unknown status', 200, [{ Message: 'm', Status: 'Pending', PostOffice: [office] }], 'bad_response'],
    ['an object instead of an array', 200, { Status: 'Success', PostOffice: [office] }, 'bad_response'],
    ['an empty array', 200, [], 'bad_response'],
    ['a web page', 200, '<html></html>', 'bad_response'],
    ['nothing', 200, '', 'bad_response'],
    ['a redirect', 302, '', 'bad_response'],
    ['a 404', 404, '', 'bad_response'],
    ['a 429', 429, '', 'provider_quota'],
    ['a 500', 500, '', 'unreachable'],
    ['a 502', 502, '<h1>Bad Gateway</h1>', 'unreachable'],
    ['a 504', 504, '', 'timeout'],
  ])('judges %s', (_what, status, body, verdict) => expect(judged(indiaProvider, status, body)).toBe(verdict));
});

describe('the zippopotam provider', () => {
  const found = { 'post code': '90210', country: 'United States', places: [{ 'place name': 'Beverly Hills' }] };

  it('asks below the country', () => {
    expect(zippopotamProvider.pathOf({ kind: 'code', country: 'US', text: '90210' })).toBe('/us/90210');
    expect(zippopotamProvider.pathOf({ kind: 'code', country: 'SE', text: '113 51' })).toBe('/se/113%2051');
  });

  it.each([
    ['a place', 200, found, 'usable'],
    ['a 404', 404, {}, 'no_records'],
    ['an empty list', 200, { ...found, places: [] }, 'no_records'],
    ['an empty object', 200, {}, 'bad_response'],
    ['a web page', 200, '<html></html>', 'bad_response'],
    ['a 503', 503, '', 'unreachable'],
    ['a 429', 429, '', 'provider_quota'],
  ])('judges %s', (_what, status, body, verdict) => expect(judged(zippopotamProvider, status, body)).toBe(verdict));
});

describe('the GeoNames provider', () => {
  const geonames = createGeonamesProvider('me & you');

  it('names the account in every question', () => {
    expect(geonames.pathOf({ kind: 'code', country: 'DE', text: '10115' })).toBe(
      '/postalCodeLookupJSON?postalcode=10115&country=DE&username=me+%26+you',
    );
  });

  it.each(['postalcodes', 'postalCodes', 'postalCode'])('reads %s', (member) => {
    expect(judged(geonames, 200, { [member]: [{ postalcode: '10115' }] })).toBe('usable');
    expect(judged(geonames, 200, { [member]: [] })).toBe('no_records');
  });

  it.each([
    [10, 'bad_response'],
    [11, 'no_records'],
    [13, 'timeout'],
    [15, 'no_records'],
    [17, 'no_records'],
    [18, 'provider_quota'],
    [19, 'provider_quota'],
    [20, 'provider_quota'],
    [22, 'unreachable'],
    [99, 'bad_response'],
  ])('judges failure %d', (value, verdict) => {
    expect(judged(geonames, 200, { status: { message: 'm', value } })).toBe(verdict);
    expect(judged(geonames, 401, { status: { message: 'm', value: String(value) } })).toBe(verdict);
  });

  it.each([
    ['an empty object', 200, {}, 'bad_response'],
    ['a web page', 200, '<html></html>', 'bad_response'],
    ['a 500', 500, '', 'unreachable'],
  ])('judges %s', (_what, status, body, verdict) => expect(judged(geonames, status, body)).toBe(verdict));
});
