import { findRedisUrlProblem, parseRedisUrl } from '../../plugins/core/redis-address';

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
