import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type RedisAddress } from '../../core/redis-address';
import { ClusterMasters } from './cluster-masters';
import { CLIENT_OPTIONS, type MasterEvents, reasonOf, type RedisMasters, retryStrategy } from './redis-masters';

/** What a single server is called. */
const ONLY = 'redis';

/** Connects at once and reconnects for ever. */
export function openRedisMasters(address: RedisAddress, events: MasterEvents): RedisMasters {
  const masters = address.kind === 'cluster' ? new ClusterMasters({ ...address, ...events }) : openServer(address.url, events);
  const lua = readFileSync(join(__dirname, 'quota-counter.lua'), 'utf8');
  masters.commands.defineCommand('countQuota', { numberOfKeys: 1, lua });
  return masters;
}

function openServer(url: string, { onTrouble, onReady }: MasterEvents): RedisMasters {
  const redis = new Redis(url, {
    ...CLIENT_OPTIONS,
    enableOfflineQueue: false,
    retryStrategy,
    // A replica that was a primary: the name may lead to the new primary by now.
    reconnectOnError: (error) => error.message.includes('READONLY'),
  });
  redis.on('error', (error: Error) => onTrouble(ONLY, reasonOf(error)));
  redis.on('close', () => onTrouble(ONLY, 'connection closed'));
  redis.on('ready', () => onReady(ONLY));
  const names = new Set([ONLY]);
  return {
    commands: redis,
    ownerOf: () => ONLY,
    names: () => names,
    clientOf: (name) => (name === ONLY ? redis : undefined),
    close: () => redis.disconnect(),
  };
}
