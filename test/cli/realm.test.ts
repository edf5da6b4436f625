import { realmOf } from '../../cli/supervisor/realm';
import { readPluginServerSettings } from '../../plugins/server/settings';

it.each([
  ['Acme Weather', 'Acme Weather'],
  ['Café Müller', 'Cafe Muller'],
  ['The "best" \\ API', 'The best  API'],
  ['天気', undefined],
  ['Tollgate', undefined],
])('names the brand %s in a 401 as %s', (name, realm) => {
  expect(realmOf({ DASHBOARD_NAME: name, TOLLGATE_CONFIG: '/nowhere' })).toBe(realm);
});

it('leaves out the name of a brand that cannot be used', () => {
  expect(realmOf({ DASHBOARD_NAME: 'Acme', DASHBOARD_COLOUR: 'red' })).toBeUndefined();
  expect(realmOf({ DASHBOARD_NAME: 'Acme', DASHBOARD_LOGO: '/nowhere/logo.svg' })).toBeUndefined();
});

it.each(['with "quotes"', 'back\\slash', 'two\nlines', 'a'.repeat(101)])('refuses the setting REALM=%j', (REALM) => {
  expect(() => readPluginServerSettings({ REALM })).toThrow(/REALM: must be at most 100 characters/);
});
