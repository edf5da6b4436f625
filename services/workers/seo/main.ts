import { join } from 'node:path';
import { systemClock } from '../../../plugins/core/ports';
import { runWorker } from '../../kit/worker/run-worker';
import { seoWorkerSettings } from './settings';
import { startSeoWorker } from './start-seo-worker';

runWorker({
  name: 'seo',
  settings: seoWorkerSettings,
  products: ['api-seo'],
  start: (settings, tools) =>
    startSeoWorker({ settings, clock: systemClock, pageThread: join(__dirname, '../../kit/pages/page-thread.js'), ...tools }),
});
