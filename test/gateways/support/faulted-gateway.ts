import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { generateApiKey } from '../../../plugins/core/access/api-key';
import { type IssuedKey, type OwnInstallation } from '../../acceptance/installation';
import { type ProbeTarget } from '../../support/faults/fault-probe';
import { describeStatuses, recordObservation } from '../../support/faults/fault-report';
import { expectAlertsOf } from '../../support/faults/firing-alerts';
import { expectDocumented, observeFault, UNDER_WAY, type FaultPlan } from '../../support/faults/observe-fault';
import { eventually } from '../../support/eventually';
import { send } from '../../support/http';
import { isMeasured } from '../../support/measured';
import { type OpenedParts, openTogether } from '../../support/opened';
import { flood } from '../../support/system/flood';
import { type AnyGateway, startAnyGateway } from './every-gateway';

/** What the holder of a valid key sees while nobody can decide: Caddy says 502 or, past its time-out, 504, Kong by the plugin 500. */
const UNDECIDED = {
  nginx: [503],
  'nginx-lua': [503],
  caddy: [502, 503, 504],
  haproxy: [503],
  kong: [500, 503],
  'kong-lane': [503],
  'kong-local': [500, 503],
} as const;

const SERVED_WITHIN_MS = 15_000;
const HAMMERED = isMeasured ? 10_000 : 2_000;

/** Of a fault that lifts itself: by when a valid key is served again. */
export const RECOVERY = { lift: () => undefined, recoversWithinMs: SERVED_WITHIN_MS } as const;

export interface GatewayFault extends FaultPlan {
  /** How often a process died, or connections broke, while others went on. */
  readonly deaths?: number;
  /** Said of it in the table of faults. */
  readonly note?: string;
  /** Where the fault has no row: the fault of the table whose alerts it fires. */
  readonly firesAs?: string;
}

/**
 * Caddy's HTTP client asks once more when a connection that it used before breaks, and Kong and its stand-in when a plugin server's does. Another worker answers, and
 * both count. The others never ask again.
 */
const asksAgain = (kind: AnyGateway): boolean => kind === 'caddy' || kind === 'kong' || kind === 'kong-local';

/** A gateway in front of an installation that is broken under it. */
export interface FaultedGateway {
  /** Until a valid key is admitted again. */
  untilServed(): Promise<void>;
  /** Inflicts a fault, judges what was seen, and leaves a row of it where the fault has a name. */
  expectRefusals(fault: string | undefined, plan: GatewayFault): Promise<void>;
  /** The same, where the fault is thousands of requests without a valid key over 64 connections. */
  expectRefusalsUnderFlood(fault: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Opens a gateway for faults, with keys of its own.
 * @param sockets the folder with the plugin server's sockets, or with others in their place
 */
export function openFaultedGateway(
  tollgate: OwnInstallation,
  kind: AnyGateway,
  sockets = tollgate.instance.dataDir,
): Promise<FaultedGateway> {
  return openTogether((parts) => openWithKeys(parts, { tollgate, kind, sockets }));
}

async function openWithKeys(
  parts: OpenedParts,
  { tollgate, kind, sockets }: { tollgate: OwnInstallation; kind: AnyGateway; sockets: string },
): Promise<FaultedGateway> {
  const newKey = (): Promise<IssuedKey> =>
    tollgate.createKey({ products: ['api-vahaan'], mode: 'test', daily: 1_000_000, monthly: 1_000_000 });
  const { services, metrics: pages } = tollgate.instance;
  const pluginServer = pages['plugin-server'] ?? '';
  const [gateway, revoked, { key }, { key: watcher }] = await Promise.all([
    parts.keep(startAnyGateway({ kind, dataDir: sockets, services, answersTo: new URL(pluginServer).host })),
    newKey(),
    newKey(),
    newKey(),
  ]);
  await tollgate.keys.revoke(revoked.id);
  const metrics = async (): Promise<string> => (await send(pluginServer)).text;
  const target: ProbeTarget = { url: `${gateway.url}/vahaan`, key, revokedKey: revoked.key, metrics };

  const judge = async (fault: string | undefined, plan: GatewayFault, rejected: () => ReadonlyMap<number, number>): Promise<void> => {
    const seen = await observeFault(target, plan);
    expectDocumented(seen, { statuses: UNDECIDED[kind], mostTwice: asksAgain(kind) ? (plan.deaths ?? 0) * UNDER_WAY : 0 });
    const strangers = [...seen.answers.statuses('stranger', 'revoked'), ...rejected()];
    expect(strangers.filter(([status]) => status >= 200 && status < 400)).toEqual([]);
    const asked = strangers.reduce((sum, [, count]) => sum + count, 0).toLocaleString('en-GB');
    if (plan.firesAs !== undefined) await expectAlertsOf(plan.firesAs, seen.scrapes);
    if (fault === undefined) return;
    // The table of faults is the stand-in's, which every machine has.
    if (kind === 'kong-local') await recordObservation(fault, seen, plan);
    else writeRow(kind, fault, [describeStatuses(seen.answers.statuses('valid')), `0 of ${asked}`, String(seen.recoveredInMs)]);
  };

  return {
    untilServed: () => eventually(async () => (await send(target.url, { headers: { 'X-API-Key': watcher } })).status === 200),
    expectRefusals: (fault, plan) => judge(fault, plan, () => new Map()),
    expectRefusalsUnderFlood: (fault) => {
      let rejected: ReadonlyMap<number, number> = new Map();
      const inflict = async (): Promise<void> => {
        const headers = (index: number): string => (index % 10 === 0 ? `X-API-Key: ${generateApiKey('live')}\r\n` : '');
        rejected = await flood(target.url, { requests: HAMMERED, connections: 64, headers });
      };
      return judge(fault, { ...RECOVERY, inflict, lastsMs: 0 }, () => rejected);
    },
    stop: () => parts.close(),
  };
}

function writeRow(kind: AnyGateway, fault: string, seen: readonly string[]): void {
  const folder = resolve(__dirname, '../../../.test/gateways');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${kind}-${fault.replaceAll(' ', '-')}.txt`), `| ${[kind, fault, ...seen].join(' | ')} |\n`);
}
