import { join } from 'node:path';
import { runWorker } from '../../kit/worker/run-worker';
import { imageWorkerSettings } from './settings';
import { startImageWorker } from './start-image-worker';

runWorker({
  name: 'image',
  settings: imageWorkerSettings,
  start: (settings, { log, ...tools }) => startImageWorker(settings, log, join(__dirname, 'local/cut-out-thread.js'), tools),
});
