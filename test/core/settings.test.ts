import { z } from 'zod';
import { booleanSetting, listSetting, numberSetting, readSettings, SettingsError, urlSetting } from '../../plugins/core/settings';
import { findRedisUrlProblem, parseRedisUrl } from '../../plugins/core/redis-address';

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

describe('REDIS_URL', () => {
  it('names one server', () => {
    expect(parseRedisUrl('redis://user:p%40ss@redis.internal:6380/2')).toEqual({
      kind: 'server',
      url: 'redis://user:p%40ss@redis.internal:6380/2',
    });
  });

  it('names nodes of a cluster, separated by commas', () => {
    expect(parseRedisUrl('redis://:s%2Cecret@a:7000, redis://:s%2Cecret@b , redis://:s%2Cecret@[::1]:7002')).toEqual({
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 6379 },
        { host: '::1', port: 7002 },
      ],
      login: { password: 's,ecret' },
    });
  });

  it('names the one address of a cluster when it says so', () => {
    expect(parseRedisUrl('rediss://u:p@config.example:6379?cluster=true')).toEqual({
      kind: 'cluster',
      nodes: [{ host: 'config.example', port: 6379 }],
      login: { username: 'u', password: 'p', tls: {} },
    });
  });

  it.each([
    ['', 'must be a redis://'],
    ['http://secret', 'must be a redis://'],
    ['redis://a,', 'must be a redis://'],
    ['redis://:secret@a,redis://b', 'must name the same user, password and scheme'],
    ['redis://a,rediss://a', 'must name the same user, password and scheme'],
    ['redis://a/1,redis://b/1', 'must not name a database'],
  ])('is refused as "%s", without repeating it', (text, problem) => {
    expect(findRedisUrlProblem(text)).toContain(problem);
    expect(findRedisUrlProblem(text)).not.toContain('secret');
  });
});
