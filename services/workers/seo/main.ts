import { join } from 'node:path';
import { systemClock } from '../../../plugins/core/ports';
import { runWorker } from '../../kit/worker/run-worker';
import { liveSourcesOf } from '../live-sources';
import { seoWorkerSettings } from './settings';
import { startSeoWorker } from './start-seo-worker';

runWorker({
  name: 'seo',
  settings: seoWorkerSettings,
  live: liveSourcesOf('seo', process.env),
  start: (settings, tools) =>
    startSeoWorker({ settings, clock: systemClock, pageThread: join(__dirname, '../../kit/pages/page-thread.js'), ...tools }),
});
