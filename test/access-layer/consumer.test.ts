import { bearer, call, recordOf } from './call-plugin';

const config = { consumer: true };
const named = (customerName?: string) => ({ config, record: recordOf({ customerName }) });
const FORGED = {
  'x-consumer-id': 'somebody',
  'x-consumer-custom-id': 'somebody',
  'x-consumer-groups': 'admins',
  x_consumer_username: 'somebody',
  'x-anonymous-consumer': 'true',
};

describe('a route that hands over the consumer', () => {
  it('tells Kong the customer and the key, and the service the same in Kong’s headers', async () => {
    const { client, set } = await call({ headers: bearer }, named('Acme Ltd'));
    const { credentialId, customerId } = recordOf();
    expect(client).toEqual({
      consumer: { id: customerId, username: 'Acme Ltd' },
      credential: { id: credentialId, consumer_id: customerId },
    });
    expect(set).toMatchObject({ 'x-consumer-id': customerId, 'x-consumer-username': 'Acme Ltd', 'x-credential-identifier': credentialId });
  });

  it.each([
    ['no name', undefined, recordOf().customerId],
    ['a name of control characters', '\r\n\u0000', recordOf().customerId],
    ['a name with a line feed', 'Acme\r\nX-Admin: 1', 'Acme X-Admin: 1'],
    ['a name in another script', 'Größe 株式会社', 'Größe 株式会社'],
  ])('takes %s', async (_what, name, username) => {
    expect((await call({ headers: bearer }, named(name))).set).toMatchObject({ 'x-consumer-username': username });
  });

  it('removes what the client says of a consumer, in either spelling', async () => {
    const { cleared, set } = await call({ headers: { ...bearer, ...FORGED }, withoutVariable: true }, named('Acme'));
    expect(cleared).toEqual(
      expect.arrayContaining(['x-consumer-custom-id', 'x-consumer-groups', 'x_consumer_username', 'x-anonymous-consumer']),
    );
    expect(Object.keys(set).filter((name) => /consumer/.test(name))).toEqual(['x-consumer-id', 'x-consumer-username']);
  });

  it('makes no call more when it is off, and none for a request that is refused or not enforced', async () => {
    const off = await call({ headers: bearer });
    const refused = await call({}, { config });
    const tried = await call({ headers: bearer }, { config: { ...config, enforce: false } });
    for (const { calls, set } of [off, refused, tried]) {
      expect(calls).not.toContain('authenticate');
      expect(Object.keys(set).some((name) => name.includes('consumer'))).toBe(false);
    }
    const on = await call({ headers: bearer }, { config });
    expect(on.calls).toEqual([...off.calls, 'authenticate']);
  });
});
