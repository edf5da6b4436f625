import { join } from 'node:path';
import { runWorker } from '../../kit/worker/run-worker';
import { apkWorkerSettings } from './settings';
import { startApkWorker } from './start-apk-worker';

runWorker({
  name: 'apk',
  settings: apkWorkerSettings,
  start: (settings, { log, ...tools }) => startApkWorker(settings, log, join(__dirname, 'analysis-thread.js'), tools),
});
