import { join } from 'node:path';
import { systemClock } from '../../../plugins/core/ports';
import { runWorker } from '../../kit/worker/run-worker';
import { rankingWorkerSettings } from './settings';
import { startRankingWorker } from './start-ranking-worker';

runWorker({
  name: 'ranking',
  settings: rankingWorkerSettings,
  products: ['api-grank', 'api-glead'],
  start: (settings, tools) =>
    startRankingWorker({ settings, clock: systemClock, pageThread: join(__dirname, '../../kit/pages/page-thread.js'), ...tools }),
});
