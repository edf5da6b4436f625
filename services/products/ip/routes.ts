import { z } from 'zod';
import { parseIpAddress } from '../../../plugins/core/access/ip-address';
import { type Clock, type KeyMode } from '../../../plugins/core/ports';
import { type CallContext, defineRoute, defineService, type ServiceTools } from '../../kit/service/define-service';
import { invalidInput, notConfigured, ServiceError } from '../../kit/errors';
import { GuardedFetch } from '../../kit/upstream/guarded-fetch';
import { UpstreamClient } from '../../kit/upstream/upstream-client';
import { sandboxAt } from '../../kit/upstream/upstream-target';
import { ip } from './facts';
import { createAbuseIpdb } from './abuse-ipdb';
import { MAX_ADDRESSES, batchAnswer, batchInput, lookUpBatch } from './look-up-batch';
import { createDnsResolver, createSandboxResolver } from './dns-resolver';
import { ipAnswer } from './ip-answer';
import { type AddressLists, openAddressLists } from './lists/address-lists';
import { type IpDatabases, openDatabases } from './ip-databases';
import { lookUpAddress, type LookUpDeps } from './look-up-address';
import { createNetworkFacts, type FindNetworkFacts, type NetworkSources, SOURCE_DEADLINE_MS } from './network-facts';
import { createFindRegistration, RDAP_LIMITS } from './rdap/find-registration';
import { type FindServer, openRdapServers } from './rdap/rdap-servers';
import { checkReadable, databasePaths, ipSettings, type IpSettings } from './settings';

export interface IpDeps {
  /** Settles when the files are in memory. Meanwhile the service listens, and the first requests wait. */
  readonly databases: Promise<IpDatabases>;
  /** As `databases`; undefined inside if no folder is configured. */
  readonly lists: Promise<AddressLists | undefined>;
  /** Undefined for test keys if there is no sandbox. */
  readonly networkFacts: Readonly<Record<KeyMode, FindNetworkFacts | undefined>>;
  close(): Promise<void>;
}

const input = z.object({ ip: z.string().optional().describe('The address, IPv4 or IPv6; the caller’s own unless given.') });

async function lookUpDepsOf({ mode, clock }: CallContext, deps: IpDeps): Promise<LookUpDeps> {
  const findNetworkFacts = deps.networkFacts[mode];
  if (!findNetworkFacts) throw notConfigured(['SANDBOX_URL'], 'test');
  return { databases: await deps.databases, lists: await deps.lists, findNetworkFacts, mode, now: () => clock.now() };
}

async function answer({ ip }: z.output<typeof input>, context: CallContext, deps: IpDeps) {
  const address = parseIpAddress(ip ?? context.proof.callerAddress);
  if (!address && ip === undefined) throw new ServiceError('processing_failed', { cause: new Error('the proof has no caller address') });
  if (!address) throw invalidInput([{ field: 'ip', message: 'must be an IPv4 or IPv6 address, without port, zone or leading zeros' }]);
  return lookUpAddress(address, await lookUpDepsOf(context, deps));
}

/** A client of the registries, and how to close it. */
interface Registries {
  readonly registrationOf: NonNullable<NetworkSources['registrationOf']>;
  close(): Promise<void>;
}

/** @param allowPrivate only for the sandbox: the registries' servers come from a fetched file */
function registriesAt(findServer: FindServer, clock: Clock, allowPrivate: boolean): Registries {
  const fetch = new GuardedFetch({ ...RDAP_LIMITS, userAgent: 'tollgate', allowPrivate });
  const find = createFindRegistration({ fetch, findServer, clock });
  return {
    registrationOf: (address) => (findServer(address) === undefined ? undefined : () => find(address)),
    close: () => fetch.close(),
  };
}

function liveSources(settings: IpSettings, client: UpstreamClient, registries: Registries | undefined): NetworkSources {
  const resolver = createDnsResolver(settings.IP_DNS_SERVERS);
  const { IP_DNSBL_ZONE: zone, IP_ABUSEIPDB_KEY: apiKey } = settings;
  return {
    resolver: settings.IP_REVERSE_DNS ? resolver : undefined,
    blockList: zone === undefined ? undefined : { zone, resolver },
    findAbuse: apiKey === undefined ? undefined : createAbuseIpdb({ client, mode: 'live', apiKey }),
    registrationOf: registries?.registrationOf,
  };
}

/** A hundred addresses take 5 KB; a multipart form around them takes a little more. */
const BATCH_BODY_BYTES = 65_536;

/** Every source is on, because none in the sandbox is a third party. The seller's zone or key is never sent there. */
function sandboxSources(sandboxUrl: string, client: UpstreamClient, registries: Registries): NetworkSources {
  const resolver = createSandboxResolver(sandboxUrl);
  return {
    resolver,
    blockList: { zone: 'zen.spamhaus.org', resolver },
    findAbuse: createAbuseIpdb({ client, mode: 'test', apiKey: 'sandbox' }),
    registrationOf: registries.registrationOf,
  };
}

/**
 * Starts reading the files and returns: half a second of parsing must not delay the start of all other services.
 * @throws Error naming a configured file that does not exist
 */
export async function createIpDeps({ settings, common, clock, log, metrics }: ServiceTools<IpSettings>): Promise<IpDeps> {
  const paths = databasePaths(settings);
  await checkReadable(paths);
  const facts = (sources: NetworkSources): FindNetworkFacts =>
    createNetworkFacts({
      sources,
      clock,
      onFailure: (source, reason) => log.warn({ source, reason }, 'a source of facts about addresses failed'),
    });
  const watching = {
    pollMs: settings.IP_DATABASE_POLL_SECONDS * 1000,
    onError: (path: string, err: unknown) => log.error({ path, err }, 'a changed IP database cannot be used; the one in memory stays'),
  };
  const databases = openDatabases({ paths, ...watching });
  const { IP_LISTS_FOLDER: folder, IP_LISTS_OFF: off } = settings;
  const lists = folder === undefined ? Promise.resolve(undefined) : openAddressLists({ folder, off, ...watching });
  databases.catch((err: unknown) => log.error({ err }, 'the IP databases cannot be opened'));
  const { IP_ABUSEIPDB_URL: liveUrl } = settings;
  const abuseIpdb = new UpstreamClient({
    name: 'abuseipdb',
    target: { liveUrl, liveSetting: 'IP_ABUSEIPDB_URL', sandboxUrl: sandboxAt(common, '/abuseipdb') },
    timeoutMs: SOURCE_DEADLINE_MS,
    headers: { 'user-agent': 'tollgate' },
    metrics,
  });
  const servers = settings.IP_RDAP && folder !== undefined ? await openRdapServers({ folder, ...watching }) : undefined;
  const registries = servers && registriesAt(servers.find, clock, false);
  const { sandboxUrl } = common;
  const sandboxRegistries = sandboxUrl === undefined ? undefined : registriesAt(() => `${sandboxUrl}/rdap`, clock, true);
  return {
    databases,
    lists,
    networkFacts: {
      live: facts(liveSources(settings, abuseIpdb, registries)),
      test: sandboxUrl === undefined || !sandboxRegistries ? undefined : facts(sandboxSources(sandboxUrl, abuseIpdb, sandboxRegistries)),
    },
    close: async () => {
      servers?.close();
      await Promise.all([abuseIpdb.close(), registries?.close(), sandboxRegistries?.close()]);
      (await databases.catch(() => undefined))?.close();
      (await lists)?.close();
    },
  };
}

/** Names shown beside the age of data. All other data are lists. */
const DATA_NAMES: Readonly<Record<string, string>> = {
  city_database: 'Table of places',
  asn_database: 'Table of networks',
  anonymous_ip_mmdb: 'Table of anonymous addresses',
  ip_risk_mmdb: 'Table of risks',
  static_ip_score_mmdb: 'Table of static addresses',
};

const DOES = 'Returns where an IP address is, who runs its network, and how risky and how static it is.';

export const ipService = defineService<IpDeps, IpSettings>({
  ...ip,
  settings: ipSettings,
  createDeps: createIpDeps,
  checkReady: async ({ databases, lists }) => {
    await Promise.all([databases, lists]);
  },
  dataOf: async ({ databases, lists }) =>
    [...(await databases).describe(), ...((await lists)?.describe() ?? [])].map(({ source, builtAt }) => ({
      name: DATA_NAMES[source] ?? `List ${source}`,
      asOf: builtAt,
    })),
  close: (deps) => deps.close(),
  routes: [
    defineRoute({
      method: 'GET',
      path: '/ip',
      does: DOES,
      input,
      output: ipAnswer,
      body: { kind: 'ignored' },
      handler: (fields, context, deps: IpDeps) => answer(fields, context, deps),
    }),
    defineRoute({
      method: 'POST',
      path: '/ip',
      does: DOES,
      input: batchInput,
      output: batchAnswer,
      bodyLimitBytes: BATCH_BODY_BYTES,
      units: { most: MAX_ADDRESSES, each: 'address that was looked up' },
      handler: async ({ ips }, context, deps: IpDeps) => {
        const results = await lookUpBatch(ips, await lookUpDepsOf(context, deps));
        context.charge(results.filter(({ is_valid: isValid }) => isValid).length);
        return { results };
      },
    }),
  ],
});
