import { recordOf, bearer, call } from './call-plugin';

const refusal = async (type: string, headers: Record<string, string> = {}, record = recordOf()) =>
  (await call({ headers: { 'content-type': type, ...headers } }, { record })).exit;

describe('a refusal of a client that speaks gRPC', () => {
  it.each(['application/grpc', 'application/grpc+proto', 'application/grpc;charset=utf-8', 'Application/gRPC'])(
    'is a head with status 200 that gRPC reads, and no body: %s',
    async (type) => {
      expect(await refusal(type)).toEqual({
        status: 200,
        body: {},
        headers: expect.objectContaining({
          'Content-Type': 'application/grpc',
          'grpc-status': '16',
          'grpc-message': expect.stringMatching(/^key_missing: Send your API key/),
          'WWW-Authenticate': 'Bearer realm="tollgate"',
        }),
      });
    },
  );

  it.each(['application/grpc-web', 'application/grpc-web+proto', 'application/grpcish', 'text/application/grpc', 'application/json'])(
    'is one of HTTP for any other: %s',
    async (type) => expect(await refusal(type)).toMatchObject({ status: 401, body: { code: 'key_missing' } }),
  );

  it('names the limit that is reached, and has no bytes that a message of gRPC may not have', async () => {
    const limits = { daily: 0, monthly: 3 };
    const [subscription] = recordOf().subscriptions;
    const record = recordOf({ subscriptions: subscription ? [{ ...subscription, limits }] : [] });
    const request = { headers: { ...bearer, 'content-type': 'application/grpc' } };
    const { exit } = await call(request, { record });
    expect(exit?.headers).toMatchObject({ 'grpc-status': '8', 'Retry-After': expect.any(String), RateLimit: expect.any(String) });
    expect(exit?.headers['grpc-message']).toMatch(/^quota_daily_exceeded: [ -~]*$/);
  });

  it('never ends a request that is admitted', async () => {
    const { exit, set } = await call({ headers: { ...bearer, 'content-type': 'application/grpc' } });
    expect([exit, Object.keys(set)]).toEqual([undefined, ['X-Tollgate-Context']]);
  });
});
