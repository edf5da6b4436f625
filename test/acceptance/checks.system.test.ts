import { generateApiKey } from '../../plugins/core/access/api-key';
import { eventually } from '../support/eventually';
import { type Reply } from '../support/http';
import { sendPatiently } from '../support/send-patiently';
import { openInstallation, type Installation, type IssuedKey } from './installation';
import { useOpened } from '../support/opened';

const tollgate = useOpened(openInstallation);
let ownAddress: string;

beforeAll(async () => {
  ownAddress = await tollgate.callerAddress();
});

const call = (key: string, path = '/vahaan', headers: Record<string, string> = {}): Promise<Reply> =>
  sendPatiently(tollgate.gatewayUrl + path, { headers: { 'X-API-Key': key, ...headers } });

const codeOf = async (key: string, path?: string, headers?: Record<string, string>): Promise<string> => {
  const reply = await call(key, path, headers);
  return reply.status === 200 ? 'admitted' : `${reply.status} ${reply.json().code}`;
};

/** Asks again until the answer is the expected one. */
async function soon(expected: string, ask: () => Promise<string>): Promise<void> {
  let answer = '';
  await eventually(async () => (answer = await ask()) === expected).catch(() => expect(answer).toBe(expected));
}

const vahaan = (options: Partial<Parameters<Installation['createKey']>[0]> = {}): Promise<IssuedKey> =>
  tollgate.createKey({ products: ['api-vahaan'], mode: 'test', ...options });

describe('the checks refuse', () => {
  it('an expired key, from its moment of expiry on', async () => {
    const { key, id } = await vahaan();
    expect(await codeOf(key)).toBe('admitted');
    await tollgate.keys.expire(id, new Date());
    await soon('401 key_expired', () => codeOf(key));
  });

  it('a key that expires while it is in use', async () => {
    const admittedFor = async (ms: number): Promise<string> => {
      const { key } = await vahaan({ expiresAt: new Date(Date.now() + ms) });
      // A busy machine may need all of its life until it is first used.
      return (await codeOf(key)) === 'admitted' ? key : admittedFor(2 * ms);
    };
    const key = await admittedFor(1_500);
    await soon('401 key_expired', () => codeOf(key));
  });

  it('a product that the key is not authorised for', async () => {
    const { key } = await vahaan();
    expect(await codeOf(key, '/ip?ip=8.8.8.8')).toBe('401 product_not_authorised');
  });

  it('a product without a subscription', async () => {
    const { key } = await vahaan({ subscribe: false });
    expect(await codeOf(key)).toBe('401 subscription_missing');
  });

  it('a paused and a cancelled subscription, and admits it again when resumed', async () => {
    const { key, subscriptions } = await vahaan();
    const id = subscriptions[0]?.id ?? '';
    expect(await codeOf(key)).toBe('admitted');
    await tollgate.subscriptions.pause(id);
    await soon('401 subscription_inactive', () => codeOf(key));
    await tollgate.subscriptions.resume(id);
    await soon('admitted', () => codeOf(key));
    await tollgate.subscriptions.cancel(id);
    await soon('401 subscription_inactive', () => codeOf(key));
  });

  it('a key switched off, and admits it again when switched on', async () => {
    const { key, id } = await vahaan();
    expect(await codeOf(key)).toBe('admitted');
    await tollgate.keys.deactivate(id);
    await soon('401 key_unknown', () => codeOf(key));
    await tollgate.keys.activate(id);
    await soon('admitted', () => codeOf(key));
  });

  it('a revoked key for ever, in the same words as a key that never existed', async () => {
    const { key, id } = await vahaan();
    expect(await codeOf(key)).toBe('admitted');
    await tollgate.keys.revoke(id);
    await soon('401 key_unknown', () => codeOf(key));
    await expect(tollgate.keys.activate(id)).rejects.toThrow(/revoked/i);
    const [revoked, unknown] = await Promise.all([call(key), call(generateApiKey('test'))]);
    const shown = ({ status, headers, text }: Reply): unknown => [
      status,
      headers['www-authenticate'],
      text.replaceAll(String(headers['x-kong-request-id']), ''),
    ];
    expect(shown(revoked)).toEqual(shown(unknown));
  });

  it('in the order of the specification', async () => {
    const { key, id } = await tollgate.createKey({ products: ['api-ip'], mode: 'test', subscribe: false, allow: ['198.51.100.1'] });
    expect(await codeOf(key)).toBe('401 product_not_authorised');
    expect(await codeOf(key, '/ip')).toBe('401 subscription_missing');
    await tollgate.keys.expire(id, new Date(Date.now() - 1000));
    await soon('401 key_expired', () => codeOf(key, '/ip'));
  });
});

describe('whitelist rules', () => {
  it('let the address through that they name, and no other', async () => {
    const inside = await vahaan({ allow: [ownAddress] });
    const outside = await vahaan({ allow: ['203.0.113.0/24'] });
    expect(await codeOf(inside.key)).toBe('admitted');
    expect(await codeOf(outside.key)).toBe('401 caller_not_whitelisted');
  });

  it('believe no forwarded address of a caller that is no trusted proxy', async () => {
    const { key } = await vahaan({ allow: ['203.0.113.0/24'] });
    for (const name of ['X-Forwarded-For', 'X-Real-IP', 'Forwarded', 'X-Client-IP', 'CF-Connecting-IP']) {
      expect(await codeOf(key, '/vahaan', { [name]: name === 'Forwarded' ? 'for=203.0.113.7' : '203.0.113.7' })).toBe(
        '401 caller_not_whitelisted',
      );
    }
  });

  it.each<[Record<string, string>, string]>([
    [{ Origin: 'https://app.example.com' }, 'admitted'],
    [{ Referer: 'https://app.example.com/page' }, 'admitted'],
    [{ Origin: 'https://example.com' }, '401 caller_not_whitelisted'],
    [{ Origin: 'null', Referer: 'https://app.example.com/' }, '401 caller_not_whitelisted'],
    [{ Origin: 'https://evil.test', Referer: 'https://app.example.com/' }, '401 caller_not_whitelisted'],
    [{}, '401 caller_not_whitelisted'],
  ])('for *.example.com judge %p as %s', async (headers, expected) => {
    const { key } = await vahaan({ allow: ['*.example.com'] });
    expect(await codeOf(key, '/vahaan', headers)).toBe(expected);
  });

  it('take effect when they are replaced', async () => {
    const { key, id } = await vahaan();
    expect(await codeOf(key)).toBe('admitted');
    await tollgate.keys.rules(id, ['203.0.113.7']);
    await soon('401 caller_not_whitelisted', () => codeOf(key));
    await tollgate.keys.rules(id, []);
    await soon('admitted', () => codeOf(key));
  });
});

describe('one key for several products', () => {
  it('the image route admits either of its two products', async () => {
    const legacy = await tollgate.createKey({ products: ['api-background-remover'], mode: 'test' });
    const neither = await vahaan();
    expect(await codeOf(legacy.key, '/background_remover')).toBe('admitted');
    expect(await codeOf(legacy.key, '/image/background_remover')).not.toContain('401');
    expect(await codeOf(neither.key, '/image/background_remover')).toBe('401 product_not_authorised');
  });
});
