import { normalPlaces, normalPlace } from '../../../services/products/pincode/normal-places';
import { createGeonamesProvider } from '../../../services/products/pincode/geonames-provider';
import { indiaProvider } from '../../../services/products/pincode/india-provider';
import { zippopotamProvider } from '../../../services/products/pincode/zippopotam-provider';
import { fc } from '../../support/fast-check';

const read = (provider: string, json: unknown) => normalPlaces(provider, Buffer.from(JSON.stringify(json)));

describe('the one form of places', () => {
  it('of an Indian post office tells its kind, whether it delivers, and no coordinates', () => {
    const office = {
      Name: 'New Delhi ',
      BranchType: 'Head Post Office',
      DeliveryStatus: 'Delivery',
      District: 'Central Delhi',
      State: 'Delhi',
      Pincode: '110001',
    };
    const other = { Name: 'X', DeliveryStatus: 'Non-Delivery', District: '', State: null, Block: 7 };
    expect(read(indiaProvider.name, [{ Message: 'm', Status: 'Success', PostOffice: [office, other] }])).toEqual([
      {
        name: 'New Delhi', postal_code: '110001', kind: 'Head Post Office', delivers: true, district: 'Central Delhi', state: 'Delhi',
        state_code: null, latitude: null, longitude: null,
      },
      {
        name: 'X', postal_code: null, kind: null, delivers: false, district: null, state: null,
        state_code: null, latitude: null, longitude: null,
      },
    ]); // prettier-ignore
  });

  it('of other countries has coordinates as numbers, from text and from numbers alike', () => {
    const point = { latitude: 34.0901, longitude: -118.4065 };
    const expected = { name: 'Beverly Hills', postal_code: '90210', state: 'California', state_code: 'CA', ...point };
    const text = { longitude: '-118.4065', latitude: '34.0901' };
    const place = { 'place name': 'Beverly Hills', state: 'California', 'state abbreviation': 'CA', ...text };
    expect(read(zippopotamProvider.name, { 'post code': '90210', country: 'US', places: [place] })).toMatchObject([expected]);
    const state = { adminName1: 'California', adminCode1: 'CA', adminName2: 'Los Angeles' };
    const geonames = { placeName: 'Beverly Hills', postalcode: '90210', ...state, lat: 34.0901, lng: -118.4065 };
    for (const member of ['postalcodes', 'postalCodes', 'postalCode'])
      expect(read(createGeonamesProvider('x').name, { [member]: [geonames] })).toMatchObject([{ ...expected, district: 'Los Angeles' }]);
  });

  it.each(['', 'north', '1e9', null, {}])('has null for coordinates that are none: %j', (latitude) => {
    const place = { 'place name': 'X', latitude, longitude: '7' };
    expect(read(zippopotamProvider.name, { 'post code': '1', country: 'X', places: [place] })).toMatchObject([
      { latitude: null, longitude: 7 },
    ]);
  });

  it('is made of whatever a provider may call an answer', () => {
    const value = fc.oneof(fc.string(), fc.double({ noNaN: true }), fc.constant(null), fc.boolean(), fc.object({ maxDepth: 1 }));
    const office = fc.record({
      Name: fc.string(),
      Pincode: value,
      BranchType: value,
      DeliveryStatus: value,
      District: value,
      State: value,
    });
    const named = { Name: '', Pincode: null, BranchType: null, DeliveryStatus: '__proto__', District: null, State: null };
    fc.assert(
      fc.property(fc.array(office, { minLength: 1, maxLength: 3 }), (offices) => {
        const body = Buffer.from(JSON.stringify([{ Message: 'm', Status: 'Success', PostOffice: offices }]));
        expect(indiaProvider.judge(200, body)).toEqual({ usable: true });
        for (const place of normalPlaces(indiaProvider.name, body)) expect(normalPlace.safeParse(place).success).toBe(true);
      }),
      { examples: [[[named]]] },
    );
  });
});
