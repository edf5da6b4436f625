import { type Clock, type KeyMode } from '../../../plugins/core/ports';
import { notConfigured } from '../../kit/errors';
import { type Log } from '../../kit/log';
import { type Metrics } from '../../kit/metrics';
import { UpstreamClient } from '../../kit/upstream/upstream-client';
import { sandboxAt } from '../../kit/upstream/upstream-target';
import { createGoogleRanking } from './google/google-ranking';
import { type RankingSource, type RankingUpstream } from './ranking-upstream';
import { type RankingWorkerSettings } from './settings';
import { createWebSocketRanking } from './websocket/websocket-ranking';

export interface RankingUpstreams {
  /** @throws ServiceError 503 `upstream_not_configured` */
  serving(mode: KeyMode): RankingUpstream;
  close(): Promise<void>;
}

/** Not a secret: the sandbox accepts any key. */
const SANDBOX_KEY = 'sandbox';

function liveSource(settings: RankingWorkerSettings): RankingSource | undefined {
  if (settings.RANKING_SOURCE !== undefined) return settings.RANKING_SOURCE;
  if (settings.RANKING_WEBSOCKET_URL !== undefined) return 'ranking_websocket';
  return settings.RANKING_GOOGLE_PLACES_KEY === undefined ? undefined : 'google_places';
}

interface UpstreamTools {
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

function googleAdapter(settings: RankingWorkerSettings, { clock, metrics }: UpstreamTools): RankingUpstream {
  const client = new UpstreamClient({
    name: 'google_places',
    target: {
      liveUrl: settings.RANKING_GOOGLE_PLACES_URL,
      liveSetting: 'RANKING_GOOGLE_PLACES_URL',
      sandboxUrl: sandboxAt({ sandboxUrl: settings.SANDBOX_URL }, '/google-places'),
    },
    timeoutMs: settings.RANKING_TIMEOUT_MS,
    headers: { accept: 'application/json' },
    metrics,
  });
  return createGoogleRanking({ client, keys: { live: settings.RANKING_GOOGLE_PLACES_KEY ?? '', test: SANDBOX_KEY }, clock });
}

function webSocketAdapter(settings: RankingWorkerSettings, { log, metrics }: UpstreamTools): RankingUpstream {
  return createWebSocketRanking({
    target: {
      liveUrl: settings.RANKING_WEBSOCKET_URL,
      liveSetting: 'RANKING_WEBSOCKET_URL',
      liveToken: settings.RANKING_WEBSOCKET_TOKEN,
      sandboxUrl: sandboxAt({ sandboxUrl: settings.SANDBOX_URL }, '/ranking/link'),
    },
    timings: {
      messageMs: settings.RANKING_TIMEOUT_MS,
      connectMs: settings.RANKING_TIMEOUT_MS,
      heartbeatMs: settings.RANKING_HEARTBEAT_MS,
    },
    metrics,
    log,
  });
}

/** Creates both adapters. The settings choose one for live calls and one for test calls. */
export function createRankingUpstreams(settings: RankingWorkerSettings, tools: UpstreamTools): RankingUpstreams {
  const adapters: Readonly<Record<RankingSource, RankingUpstream>> = {
    google_places: googleAdapter(settings, tools),
    ranking_websocket: webSocketAdapter(settings, tools),
  };
  const live = liveSource(settings);
  const test = settings.RANKING_TEST_SOURCE ?? live ?? 'google_places';
  return {
    serving(mode) {
      if (mode === 'test' && settings.SANDBOX_URL === undefined) throw notConfigured(['SANDBOX_URL'], mode);
      const source = mode === 'test' ? test : live;
      if (source === undefined) throw notConfigured(['RANKING_GOOGLE_PLACES_KEY', 'RANKING_WEBSOCKET_URL'], mode);
      return adapters[source];
    },
    close: async () => {
      await Promise.all(Object.values(adapters).map((adapter) => adapter.close()));
    },
  };
}
