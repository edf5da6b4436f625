import { readdir } from 'node:fs/promises';
import { type ServerResponse } from 'node:http';
import { GuardedFetch } from '../../../services/kit/upstream/guarded-fetch';
import { createFindRegistration, RDAP_LIMITS } from '../../../services/products/ip/rdap/find-registration';
import { createFindServer, openRdapServers, parseBootstrap } from '../../../services/products/ip/rdap/rdap-servers';
import { readRegistration } from '../../../services/products/ip/rdap/registration';
import { updateRdapServers } from '../../../services/products/ip/rdap/update-rdap-servers';
import { ipSettings, databasePaths } from '../../../services/products/ip/settings';
import { listenWeb } from '../../kit/listen-web';
import { testClock } from '../../kit/test-clock';
import { addressOf } from './address-of';
import { formatIpAddress, type IpAddress } from '../../../plugins/core/access/ip-address';
import { openDatabases } from '../../../services/products/ip/ip-databases';
import { openAddressLists } from '../../../services/products/ip/lists/address-lists';
import { LIST_DEFINITIONS } from '../../../services/products/ip/lists/list-definitions';
import { type KeptList, listPath, writeList } from '../../../services/products/ip/lists/list-file';
import { measureFlags } from '../../../services/products/ip/lists/measure-flags';
import { lookUpAddress } from '../../../services/products/ip/look-up-address';
import { useOpened } from '../../support/opened';
import { newFolder } from '../../support/run-folder';

describe('registries', () => {
  let answer: (path: string, response: ServerResponse) => void;
  const web = useOpened(() => listenWeb((request, response) => answer(request.url ?? '', response)));
  beforeEach(() => (web.asked.length = 0));
  const asked = () => web.asked.map(({ url }) => url);

  const card = (...rows: unknown[]) => ['vcard', [['version', {}, 'text', '4.0'], ...rows]];
  const NETWORK = {
    objectClassName: 'ip network',
    name: 'EXAMPLE-NET',
    entities: [
      {
        roles: ['registrant'],
        vcardArray: card(['fn', {}, 'text', 'Example Hosting Ltd'], ['kind', {}, 'text', 'org']),
        entities: [{ roles: ['abuse'], vcardArray: card(['email', {}, 'text', 'abuse@example.net'], ['tel', {}, 'uri', 'tel:+1-555']) }],
      },
    ],
  };
  const REGISTERED = { company: 'Example Hosting Ltd', networkName: 'EXAMPLE-NET', abuseEmail: 'abuse@example.net', abusePhone: '+1-555' };

  describe("a registry's answer", () => {
    it('gives company, network and abuse contact, wherever the entities stand', () => {
      expect(readRegistration(NETWORK)).toEqual(REGISTERED);
    });

    it('gives nothing that it does not say, no name of a person, and no text that is none', () => {
      const person = { roles: ['registrant'], vcardArray: card(['fn', {}, 'text', 'Jane Doe'], ['kind', {}, 'text', 'individual']) };
      const odd = { roles: ['abuse'], vcardArray: card(['email', {}, 'text', 'not an address'], ['tel', {}, 'text', ['+1']], 'nonsense') };
      const nothing = { company: null, abuseEmail: null, abusePhone: null };
      const given = { objectClassName: 'ip network', name: 'A\u0000\u202eB', entities: [person, odd, 7] };
      expect(readRegistration(given)).toEqual({ ...nothing, networkName: 'AB' });
      expect(() => readRegistration({ objectClassName: 'domain' })).toThrow();
    });

    it('that nests without end is read to a bounded depth', () => {
      const nested = Array.from({ length: 2_000 }).reduce<object>((inner) => ({ roles: ['abuse'], entities: [inner] }), {});
      expect(readRegistration({ objectClassName: 'ip network', entities: [nested] }).abuseEmail).toBeNull();
    });
  });

  describe('asking a registry', () => {
    const fetches: GuardedFetch[] = [];
    afterEach(() => Promise.all(fetches.splice(0).map((each) => each.close())));

    function finding({ allowPrivate = true, timeoutMs = RDAP_LIMITS.timeoutMs }: { allowPrivate?: boolean; timeoutMs?: number } = {}) {
      const fetch = new GuardedFetch({ ...RDAP_LIMITS, timeoutMs, allowPrivate });
      fetches.push(fetch);
      return createFindRegistration({ fetch, findServer: () => web.url, clock: testClock });
    }
    const give = (body: string, status = 200) => {
      answer = (_path, response) => void response.writeHead(status, { 'content-type': 'application/rdap+json' }).end(body);
    };

    it('happens once for an address, also when several ask at once', async () => {
      give(JSON.stringify(NETWORK));
      const find = finding();
      const all = await Promise.all([1, 2, 3].map(() => find(addressOf('8.8.8.8'))));
      expect(all).toEqual([REGISTERED, REGISTERED, REGISTERED]);
      expect(asked()).toEqual(['/ip/8.8.8.8']);
    });

    it('follows a registry that sends it on to another', async () => {
      answer = (path, response) => {
        if (path.startsWith('/ip/')) response.writeHead(302, { location: `${web.url}/other${path}` }).end();
        else response.writeHead(200).end(JSON.stringify(NETWORK));
      };
      expect(await finding()(addressOf('2001:4860::1'))).toEqual(REGISTERED);
      expect(asked()).toEqual(['/ip/2001:4860::1', '/other/ip/2001:4860::1']);
    });

    it('knows nothing of what the registry does not know', async () => {
      give('{}', 404);
      expect(await finding()(addressOf('8.8.8.8'))).toBeUndefined();
    });

    it.each<[string, () => void, RegExp]>([
      ['a status', () => give('busy', 429), /responded with 429/],
      ['too much', () => give(`"${'x'.repeat(RDAP_LIMITS.maxBytes)}"`), /too_large/],
    ])('fails by %s, without the address in the message, and is tried again', async (_case, serve, reason) => {
      serve();
      const find = finding();
      const failure = await find(addressOf('203.0.114.9')).catch((error: unknown) => String(error));
      expect(failure).toMatch(reason);
      expect(failure).not.toContain('203.0.114.9');
      give(JSON.stringify(NETWORK));
      expect(await find(addressOf('203.0.114.9'))).toEqual(REGISTERED);
    });

    it('ends when the registry is silent', async () => {
      answer = () => undefined;
      await expect(finding({ timeoutMs: 100 })(addressOf('8.8.8.8'))).rejects.toThrow('timeout');
    });

    it('never reaches an address that is not public, whatever the file of servers says', async () => {
      give(JSON.stringify(NETWORK));
      await expect(finding({ allowPrivate: false })(addressOf('8.8.8.8'))).rejects.toThrow(/port_refused|address_refused/);
      expect(asked()).toEqual([]);
    });
  });

  describe('the servers of registries', () => {
    let folder: string;
    beforeEach(() => (folder = newFolder()));

    const file = (...services: unknown[]) => JSON.stringify({ version: '1.0', publication: '2026-10-01T12:00:00Z', services });
    const many = (prefix: (index: number) => string) => Array.from({ length: 40 }, (_, index) => prefix(index + 1));
    const serve = (v4: string) => {
      const v6 = file([many((index) => `2001:${index}00::/23`), ['https://rdap.six.example/']]);
      answer = (path, response) => void response.end(path.endsWith('ipv4.json') ? v4 : v6);
    };
    const open = () => openRdapServers({ folder, pollMs: 0, onError: () => undefined });

    it('are those of the longest network that holds the address, with TLS where there is a choice', () => {
      const wide = [['8.0.0.0/8'], ['http://rdap.wide.example/', 'https://rdap.wide.example/']];
      const find = createFindServer(parseBootstrap(file(wide, [['8.8.0.0/16'], ['https://rdap.narrow.example/']])));
      expect(find(addressOf('8.8.8.8'))).toBe('https://rdap.narrow.example/');
      expect(find(addressOf('8.9.0.1'))).toBe('https://rdap.wide.example/');
      for (const text of ['9.9.9.9', '::808:808']) expect(find(addressOf(text))).toBeUndefined();
    });

    it('are fetched from IANA or a mirror and used from then on', async () => {
      serve(file([many((index) => `${index}.0.0.0/8`), ['https://rdap.four.example/']]));
      await updateRdapServers({ folder, mirror: `${web.url}/mirror`, nowMs: 0 });
      expect(asked()).toEqual(['/mirror/rdap/ipv4.json', '/mirror/rdap/ipv6.json']);
      const servers = await open();
      expect(servers.find(addressOf('8.8.8.8'))).toBe('https://rdap.four.example/');
      expect(servers.find(addressOf('2001:100::1'))).toBe('https://rdap.six.example/');
      servers.close();
    });

    it.each([
      ['a few networks', file([['8.0.0.0/8'], ['https://rdap.example/']])],
      ['a server that is no URL', file([['8.0.0.0/8'], ['file:///etc/passwd']])],
    ])('stay as they are when what was fetched is %s', async (_case, bad) => {
      serve(file([many((index) => `${index}.0.0.0/8`), ['https://rdap.four.example/']]));
      await updateRdapServers({ folder, mirror: web.url, nowMs: 0 });
      answer = (_path, response) => void response.end(bad);
      await expect(updateRdapServers({ folder, mirror: web.url, nowMs: 0 })).rejects.toThrow();
      expect(await readdir(folder)).toEqual(['rdap_servers.json']);
      const servers = await open();
      expect(servers.find(addressOf('8.8.8.8'))).toBe('https://rdap.four.example/');
      servers.close();
    });

    it('are none while there is no file', async () => {
      const servers = await open();
      expect(servers.find(addressOf('8.8.8.8'))).toBeUndefined();
    });

    it('need a folder where registries are to be asked', () => {
      expect(ipSettings.safeParse({ IP_RDAP: 'on' }).error?.issues).toMatchObject([{ path: ['IP_LISTS_FOLDER'] }]);
    });
  });
});

describe('lists', () => {
  /** Of each list. Comparing takes time by its square. */
  const NETWORKS = 100;
  const AS_OF = new Date('2026-11-20T06:00:00Z');

  /** Networks of many sizes, scattered over 8.0.0.0/6 and 2600::/12 by a fixed rule. */
  function networksOf(seed: number, count: number): string[] {
    let state = seed;
    const next = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
    return Array.from({ length: count }, () => {
      const [bits, base, room] = next(2) === 0 ? ([32, 8n << 24n, 26] as const) : ([128, 0x2600n << 112n, 44] as const);
      const hostBits = BigInt(bits === 32 ? next(9) : 64 + next(17));
      const place = (BigInt(next(2 ** 31 - 1)) << BigInt(bits === 32 ? 0 : 84)) % (1n << BigInt(bits === 32 ? room : 116));
      return `${formatIpAddress(((base + place) >> hostBits) << hostBits, bits)}/${bits - Number(hostBits)}`;
    });
  }

  it('every address of a list has its flag, and no neighbour has one from a list that does not name it', async () => {
    const folder = newFolder();
    const kept = new Map<string, KeptList>(
      LIST_DEFINITIONS.map(({ id }, index) => [id, { asOf: AS_OF, networks: networksOf(index + 1, NETWORKS) }]),
    );
    for (const [id, list] of kept) await writeList(listPath(folder, id), list);
    const lists = await openAddressLists({ folder, off: [], pollMs: 0, onError: () => undefined });
    const databases = await openDatabases({ paths: databasePaths(ipSettings.parse({})), pollMs: 0, onError: () => undefined });
    const findNetworkFacts = () => Promise.resolve({ checked: [], hostname: null, listings: [], abuse: undefined });
    const lookUpWith = (some: typeof lists | undefined) => (address: IpAddress) =>
      lookUpAddress(address, { databases, lists: some, findNetworkFacts, mode: 'live', now: () => AS_OF.getTime() });
    const figures = await measureFlags({ kept, lookUp: lookUpWith(lists), lookUpWithoutLists: lookUpWith(undefined), sample: NETWORKS });
    expect(figures.map(({ list }) => list)).toEqual(LIST_DEFINITIONS.map(({ id }) => id));
    for (const { list, listed, flagged, unlisted, wrongly_flagged: wrong } of figures) {
      expect([list, listed > NETWORKS, flagged, unlisted > 0.75 * NETWORKS, wrong]).toEqual([list, true, listed, true, 0]);
    }
    lists.close();
    databases.close();
  });
});
