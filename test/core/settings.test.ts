import { z } from 'zod';
import { booleanSetting, listSetting, numberSetting, readSettings, SettingsError, urlSetting } from '../../plugins/core/settings';

const ip = z.object({
  IP_TIMEOUT_MS: numberSetting({ min: 1, max: 10_000 }).default(1_000),
  IP_DNSBL: booleanSetting().default(false),
  IP_HOSTS: listSetting().default([]),
  IP_URL: urlSetting(['https']).optional(),
});
const other = z.object({ OTHER_KEY: z.string() });

it('reads typed settings of several groups; an empty variable is an absent one', () => {
  const env = { IP_TIMEOUT_MS: '250', IP_DNSBL: 'Yes', IP_HOSTS: ' a, ,b ', IP_URL: '', OTHER_KEY: 'k', UNRELATED: 'x' };
  expect(readSettings({ ip, other }, env)).toEqual({
    ip: { IP_TIMEOUT_MS: 250, IP_DNSBL: true, IP_HOSTS: ['a', 'b'] },
    other: { OTHER_KEY: 'k' },
  });
  expect(readSettings({ ip }, {}).ip).toEqual({ IP_TIMEOUT_MS: 1_000, IP_DNSBL: false, IP_HOSTS: [] });
});

it('lists every problem of every group and never a value', () => {
  const env = { IP_TIMEOUT_MS: '0', IP_DNSBL: 'hunter2', IP_URL: 'https://user:hunter2@x/' };
  expect(() => readSettings({ ip, other }, env)).toThrow(
    new SettingsError([
      'IP_TIMEOUT_MS: must be a whole number from 1 to 10000',
      'IP_DNSBL: must be true or false',
      'IP_URL: must be a URL that starts with https:// and has no user, query or fragment',
      'OTHER_KEY: is required and not set',
    ]),
  );
});
