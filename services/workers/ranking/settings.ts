import { z } from 'zod';
import { booleanSetting, numberSetting, urlSetting } from '../../../plugins/core/settings';
import { workerProcessFields } from '../../kit/config';

const source = z.enum(['google_places', 'ranking_websocket'], 'must be google_places or ranking_websocket');

/** Settings of the worker process, from its environment. Without a Places key and a WebSocket, live calls are refused. */
export const rankingWorkerSettings = z
  .object({
    ...workerProcessFields,
    /** Serves both upstreams of test keys. */
    SANDBOX_URL: urlSetting().optional(),
    /** The source for live keys. Needed only when both are configured. */
    RANKING_SOURCE: source.optional(),
    /** The source for test keys, in the sandbox. Default: the source of live keys, otherwise google_places. */
    RANKING_TEST_SOURCE: source.optional(),
    RANKING_WEBSOCKET_URL: urlSetting(['ws', 'wss']).optional(),
    /** Bearer token of the handshake. */
    RANKING_WEBSOCKET_TOKEN: z.string().optional(),
    RANKING_GOOGLE_PLACES_URL: urlSetting().default('https://places.googleapis.com'),
    RANKING_GOOGLE_PLACES_KEY: z
      .string()
      .regex(/^[\x21-\x7e]+$/, 'must be one word of ASCII')
      .optional(),
    /** Milliseconds for one message or one page. */
    RANKING_TIMEOUT_MS: numberSetting({ min: 100, max: 25_000 }).default(8_000),
    /** Milliseconds between two pings on the WebSocket. After two pings without a pong, the peer counts as dead. */
    RANKING_HEARTBEAT_MS: numberSetting({ min: 50, max: 300_000 }).default(15_000),
    /** True to read the websites of leads for email addresses: live keys on the web, test keys in the sandbox. */
    RANKING_EMAIL_CRAWL: booleanSetting().default(false),
    /** Milliseconds for the websites of one search; less if its deadline is nearer. */
    RANKING_EMAIL_CRAWL_MS: numberSetting({ min: 100, max: 20_000 }).default(6_000),
    /** Pages fetched at a time by this worker. */
    RANKING_EMAIL_PAGES_AT_ONCE: numberSetting({ min: 1, max: 256 }).default(16),
  })
  .superRefine((settings, context) => {
    const hasSocket = settings.RANKING_WEBSOCKET_URL !== undefined;
    const hasPlaces = settings.RANKING_GOOGLE_PLACES_KEY !== undefined;
    const require = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (hasSocket && hasPlaces && settings.RANKING_SOURCE === undefined) {
      require('RANKING_SOURCE', 'must say which is used: RANKING_WEBSOCKET_URL and RANKING_GOOGLE_PLACES_KEY are both set');
    }
    if (settings.RANKING_SOURCE === 'ranking_websocket' && !hasSocket) {
      require('RANKING_WEBSOCKET_URL', 'is required when RANKING_SOURCE is ranking_websocket');
    }
    if (settings.RANKING_SOURCE === 'google_places' && !hasPlaces) {
      require('RANKING_GOOGLE_PLACES_KEY', 'is required when RANKING_SOURCE is google_places');
    }
  });

export type RankingWorkerSettings = z.output<typeof rankingWorkerSettings>;
