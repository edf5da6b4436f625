import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GATEWAY_KINDS, type GatewayKind } from '../../kong/gateways/render';
import { openInstallation, type IssuedKey } from '../acceptance/installation';
import { sendRaw } from '../support/gateway/raw-http';
import { sharedInstance } from '../support/system/shared-instance';
import { startGateway } from './support/running-gateway';
import { useOpened } from '../support/opened';

interface RecordedExchange {
  readonly name: string;
  /** base64. */
  readonly request: string;
  readonly answer: { readonly status: string };
}

const FIXTURE = join(__dirname, '..', 'fixtures', 'kong-traces', 'raw-http.json');
const { key: STAND_IN, exchanges } = JSON.parse(readFileSync(FIXTURE, 'utf8')) as { key: string; exchanges: readonly RecordedExchange[] };

/** What Kong's nginx refuses and Go's and HAProxy's HTTP read: framed and written anew, so that the product reads what the gateway read. */
const READ_ANEW = [
  'emptyhost', 'CL+TE', 'TE http10', 'hdr fold', 'long hdr', 'big hdrs', 'dup If-Range', 'dup If-Modified-Since', 'dup If-None-Match',
  'dup If-Match', 'dup If-Unmodified-Since', 'dup Content-Range', 'dup CL same',
]; // prettier-ignore

/** `OPTIONS *` asks about the server, not about a product: Caddy's HTTP library answers it. */
const ANSWERED_BY_CADDY = 'star';

/** By gateway: what is served to the holder of a key although Kong refuses it. Nothing of it is served to somebody without a key. */
const SERVED: Readonly<Record<GatewayKind, readonly string[]>> = {
  nginx: [],
  'nginx-lua': [],
  // A body that is too large ends where it gets too large.
  caddy: [...READ_ANEW, ANSWERED_BY_CADDY, 'too large'],
  // No product of ours looks at Host.
  haproxy: [...READ_ANEW, 'badhost', 'host/', 'two hosts'],
};

/** A body whose end is wrong: the product takes none, and may have answered before Caddy has read so far. */
const BAD_END = 'chunk bad';

const tollgate = useOpened(openInstallation);
let issued: IssuedKey;

beforeAll(async () => {
  issued = await tollgate.createKey({ products: ['api-vahaan', 'api-ip', 'api-gst'], mode: 'test', daily: 100_000, monthly: 100_000 });
});

const statusOf = (answer: string): number => Number(/HTTP\/1\.[01] ([2-5]\d\d|101) /.exec(answer)?.[1] ?? 0);
const isServed = (status: number): boolean => status === 101 || (status >= 200 && status < 400);

describe.each(GATEWAY_KINDS)('of the 130 requests that were recorded on a Kong, %s', (kind) => {
  const gateway = useOpened(async () => {
    const { dataDir, services } = await sharedInstance();
    return startGateway({ kind, forwardAuthSocket: join(dataDir, 'forward-auth.sock'), services });
  });

  const ask = async (exchange: RecordedExchange, key: string): Promise<number> => {
    const bytes = Buffer.from(exchange.request, 'base64').toString('latin1').replaceAll(STAND_IN, key);
    return statusOf(await sendRaw(gateway.url, Buffer.from(bytes, 'latin1')));
  };

  it('serves none to a stranger', async () => {
    const stranger = `${issued.key.slice(0, -1)}${issued.key.endsWith('A') ? 'B' : 'A'}`;
    const statuses = await Promise.all(exchanges.map(async (exchange) => [exchange.name, await ask(exchange, stranger)] as const));
    const served = statuses.filter(([, status]) => isServed(status)).map(([name]) => name);
    expect(served.filter((name) => !(kind === 'caddy' && name === ANSWERED_BY_CADDY))).toEqual([]);
  });

  it('serves to the holder of a key none that Kong refused, but for bytes that it reads and frames anew', async () => {
    const refusedByKong = exchanges.filter(({ answer }) => !isServed(statusOf(`${answer.status} `)));
    const statuses = await Promise.all(refusedByKong.map(async (each) => [each.name, await ask(each, issued.key)] as const));
    const served = statuses.filter(([, status]) => isServed(status)).map(([name]) => name);
    expect(served.filter((name) => !(kind === 'caddy' && name === BAD_END)).sort()).toEqual([...SERVED[kind]].sort());
  });
});
