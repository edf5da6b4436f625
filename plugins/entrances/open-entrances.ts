import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { type ListenPlace } from '../access-layer/gateway-question';
import { type PluginModule } from '../core/access/kong-pdk';
import { type AccessInstance } from '../core/access/verdict';
import { ForwardAuthServer } from './forward-auth/forward-auth-server';
import { LaneServer } from './lane/lane-server';
import { type EntranceSettings } from './settings';

export interface EntranceOptions {
  readonly plugin: PluginModule<AccessInstance>;
  readonly settings: EntranceSettings;
  readonly log: Record<'error' | 'warn' | 'info', (fields: object, message: string) => void>;
  /** Receives responses to admitted requests, in lines, from entrances whose gateway reports there. */
  readonly hear: (lines: string) => void;
}

export interface Entrances {
  /** Accepts no more questions, and gives running ones at most `graceMs`. */
  close(options: { graceMs: number }): Promise<void>;
}

interface EntranceServer extends Entrances {
  listen(): Promise<void>;
}

/** Gateway and plugin server run as different users of one group. */
const SOCKET_MODE = 0o660;

function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}

/**
 * Makes room for the sockets, once for all workers that share them: a killed server leaves its socket behind.
 * @param makeFolder makes the folder of a socket; throws if others could replace the socket
 * @throws Error if another server listens there, or the path is not a socket
 */
export async function clearPlaces(
  { forwardAuth, extAuthz, lane }: EntranceSettings,
  makeFolder: (socketPath: string) => void,
): Promise<void> {
  for (const place of [forwardAuth, extAuthz, lane]) {
    if (!place || !('path' in place)) continue;
    makeFolder(place.path);
    const found = lstatSync(place.path, { throwIfNoEntry: false });
    if (!found) continue;
    if (!found.isSocket()) throw new Error(`${place.path} exists and is not a socket`);
    if (await isServed(place.path)) throw new Error(`another server answers on ${place.path}`);
    rmSync(place.path, { force: true });
  }
}

/** Opens the entrances in the settings, beside Kong's socket; all of them use the same plugin. */
export async function openEntrances({ plugin, settings, log, hear }: EntranceOptions): Promise<Entrances> {
  const { forwardAuth, extAuthz, lane, secret } = settings;
  const open: EntranceServer[] = [];
  const openAt = async (entrance: string, place: ListenPlace, server: EntranceServer): Promise<void> => {
    await server.listen();
    open.push(server);
    if ('path' in place) chmodSync(place.path, SOCKET_MODE);
    log.info({ entrance, ...place }, 'entrance ready');
  };
  if (forwardAuth) await openAt('forward-auth', forwardAuth, new ForwardAuthServer({ plugin, listen: forwardAuth, secret, log }));
  if (lane) await openAt('lane', lane, new LaneServer({ plugin, path: lane.path, log, hear }));
  if (extAuthz) {
    // gRPC is loaded only if it is needed.
    const { ExtAuthzServer } = await import('./ext-authz/ext-authz-server.js');
    await openAt('ext-authz', extAuthz, new ExtAuthzServer({ plugin, listen: extAuthz, secret, log }));
  }
  return { close: async (options) => void (await Promise.all(open.map((each) => each.close(options)))) };
}
