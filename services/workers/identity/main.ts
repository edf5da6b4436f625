import { systemClock } from '../../../plugins/core/ports';
import { runWorker } from '../../kit/worker/run-worker';
import { identityWorkerSettings } from './settings';
import { startIdentityWorker } from './start-identity-worker';

runWorker({
  name: 'identity',
  settings: identityWorkerSettings,
  products: ['api-aadhaar', 'api-gst'],
  start: (settings, tools) => startIdentityWorker(settings, { clock: systemClock, ...tools }),
});
