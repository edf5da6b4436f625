import { request } from 'node:http';
import { connect } from 'node:net';
import { type Target } from './balancer';
import { type TargetReport } from './target-health';
import { type HealthChecks } from '../config/upstream-schema';

type ActiveChecks = HealthChecks['active'];

/** Asks each target of an upstream in Kong's rhythm: `healthy.interval` while it is well, `unhealthy.interval` while it is away; 0 never. */
export function startActiveChecks(targets: readonly Target[], checks: ActiveChecks): { stop(): void } {
  const timers = new Map<Target, NodeJS.Timeout>();
  let stopped = false;

  const schedule = (target: Target): void => {
    // A target whose standing has no interval is looked at again only when a request changes that standing.
    const { interval } = target.health.isHealthy ? checks.healthy : checks.unhealthy;
    const delaySeconds = interval || Math.max(checks.healthy.interval, checks.unhealthy.interval);
    const isDue = interval > 0;
    const timer = setTimeout(() => void turn(target, isDue), delaySeconds * 1000);
    timer.unref();
    timers.set(target, timer);
  };
  const turn = async (target: Target, isDue: boolean): Promise<void> => {
    if (isDue) target.health.report('active', await check(target, checks));
    if (!stopped) schedule(target);
  };

  if (checks.healthy.interval > 0 || checks.unhealthy.interval > 0) for (const target of targets) schedule(target);
  return {
    stop: () => {
      stopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

function check(target: Target, checks: ActiveChecks): Promise<TargetReport> {
  const timeoutMs = checks.timeout * 1000;
  return checks.type === 'tcp' ? checkTcp(target, timeoutMs) : checkHttp(target, checks.http_path, timeoutMs);
}

function checkTcp({ host, port }: Target, timeoutMs: number): Promise<TargetReport> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (report: TargetReport): void => {
      socket.destroy();
      resolve(report);
    };
    socket.setTimeout(timeoutMs, () => end({ kind: 'timeout' }));
    socket.on('error', () => end({ kind: 'refused' }));
    socket.on('connect', () => end({ kind: 'connected' }));
  });
}

function checkHttp({ host, port }: Target, path: string, timeoutMs: number): Promise<TargetReport> {
  return new Promise((resolve) => {
    const outgoing = request({ host, port, path, agent: false, timeout: timeoutMs }, (response) => {
      response.resume();
      resolve({ kind: 'status', status: response.statusCode ?? 0 });
    });
    outgoing.on('timeout', () => {
      resolve({ kind: 'timeout' });
      outgoing.destroy();
    });
    outgoing.on('error', () => resolve({ kind: 'refused' }));
    outgoing.end();
  });
}
