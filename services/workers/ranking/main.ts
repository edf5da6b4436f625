import { join } from 'node:path';
import { systemClock } from '../../../plugins/core/ports';
import { runWorker } from '../../kit/worker/run-worker';
import { liveSourcesOf } from '../live-sources';
import { rankingWorkerSettings } from './settings';
import { startRankingWorker } from './start-ranking-worker';

runWorker({
  name: 'ranking',
  settings: rankingWorkerSettings,
  live: liveSourcesOf('ranking', process.env),
  start: (settings, tools) =>
    startRankingWorker({ settings, clock: systemClock, pageThread: join(__dirname, '../../kit/pages/page-thread.js'), ...tools }),
});
