import { decodeString } from '../../plugins/server/pdk-messages';
import { TrustedProxies, type RealIpSettings } from '../../kong/local/http/trusted-proxies';
import { get } from './support/raw-client';
import { setStage, type Stage } from './support/stage';

const caller = (peer: string, forwarded: string | undefined, settings: Partial<RealIpSettings>): string =>
  new TrustedProxies({ trustedIps: [], realIpHeader: 'x-forwarded-for', recursive: false, ...settings }).callerOf(
    { ip: peer, port: 1 },
    forwarded,
  ).ip;

describe("the caller's address", () => {
  it('is the peer when nobody is trusted, whatever it says', () => {
    expect(caller('10.0.0.1', '1.2.3.4', {})).toBe('10.0.0.1');
  });

  it('is the peer when the peer is not among the trusted', () => {
    expect(caller('11.0.0.1', '1.2.3.4', { trustedIps: ['10.0.0.0/8'] })).toBe('11.0.0.1');
  });

  it('is the last address of the list without recursion', () => {
    expect(caller('10.0.0.1', '1.2.3.4, 10.0.0.2', { trustedIps: ['10.0.0.0/8'] })).toBe('10.0.0.2');
  });

  it('is the last address that is not trusted with recursion', () => {
    const settings = { trustedIps: ['10.0.0.0/8', 'fd00::/8'], recursive: true };
    expect(caller('10.0.0.1', '6.6.6.6, 1.2.3.4, fd00::1, 10.0.0.2', settings)).toBe('1.2.3.4');
    expect(caller('10.0.0.1', '10.0.0.3, 10.0.0.2', settings)).toBe('10.0.0.3');
  });

  it('is the last one that could be read when the list holds nonsense', () => {
    const settings = { trustedIps: ['10.0.0.0/8'], recursive: true };
    expect(caller('10.0.0.1', '1.2.3.4, unknown, 10.0.0.2', settings)).toBe('10.0.0.2');
    expect(caller('10.0.0.1', 'unknown', settings)).toBe('10.0.0.1');
  });

  it('may carry a port', () => {
    expect(caller('10.0.0.1', '1.2.3.4:5678', { trustedIps: ['10.0.0.1'] })).toBe('1.2.3.4');
    expect(caller('10.0.0.1', '[2001:db8::1]:5678', { trustedIps: ['10.0.0.1'] })).toBe('2001:db8::1');
  });
});

describe('a trusted proxy', () => {
  let stage: Stage;
  let seenByPlugin: string[] = [];

  beforeAll(async () => {
    stage = await setStage({ kongConf: 'trusted_ips = 127.0.0.1\nreal_ip_header = X-Forwarded-For\nreal_ip_recursive = on\n' });
    stage.plugin.onEvent = async (event) => {
      const replies = await event.batch(
        ['client.get_ip', 'client.get_forwarded_ip', 'request.get_forwarded_scheme', 'request.get_forwarded_host'].map((name) => [
          `kong.${name}`,
          Buffer.alloc(0),
        ]),
      );
      seenByPlugin = replies.map((reply) => decodeString(reply));
      event.end();
    };
  });

  afterAll(() => stage.close());

  it('is believed about address, scheme, host, port and path, by the plugin and towards the service', async () => {
    const answer = await get(stage.gateway.port, '/echo', {
      'X-Forwarded-For': '6.6.6.6, 1.2.3.4',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'api.test',
      'X-Forwarded-Port': '443',
      'X-Forwarded-Path': '/public',
    });
    expect(seenByPlugin).toEqual(['127.0.0.1', '1.2.3.4', 'https', 'api.test']);
    const { rawHeaders } = JSON.parse(answer.body) as { rawHeaders: string[] };
    expect(rawHeaders.slice(6, 20).join(' ')).toMatch(
      /^X-Forwarded-For 6\.6\.6\.6, 1\.2\.3\.4, 127\.0\.0\.1 X-Forwarded-Proto https X-Forwarded-Host api\.test X-Forwarded-Port 443 X-Forwarded-Path \/public X-Real-IP 1\.2\.3\.4 /,
    );
  });
});
