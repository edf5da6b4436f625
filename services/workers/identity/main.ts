import { systemClock } from '../../../plugins/core/ports';
import { runWorker } from '../../kit/worker/run-worker';
import { liveSourcesOf } from '../live-sources';
import { identityWorkerSettings } from './settings';
import { startIdentityWorker } from './start-identity-worker';

runWorker({
  name: 'identity',
  settings: identityWorkerSettings,
  live: liveSourcesOf('identity', process.env),
  start: (settings, tools) => startIdentityWorker(settings, { clock: systemClock, ...tools }),
});
