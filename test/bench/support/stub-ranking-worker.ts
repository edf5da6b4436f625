import { loadWorkerService } from '../../../services/kit/worker/load-proto';
import { createLog } from '../../../services/kit/log';
import { serveWorker } from '../../../services/kit/worker/serve-worker';

/** A ranking worker that answers two kilobytes at once. */
const bodyJson = JSON.stringify({
  ok: true,
  count: 20,
  results: Array.from({ length: 20 }, (_, index) => ({ name: 'x'.repeat(70), position: index + 1 })),
});
const answer = (): object => ({ bodyJson });

serveWorker({
  name: 'ranking',
  service: loadWorkerService('ranking'),
  handlers: {
    GetSource: () => ({ source: 'google_places' }),
    Search: answer,
    Position: answer,
    Grid: () => ({ dataJson: '{}' }),
    FindLeads: () => ({ dataJson: '{}' }),
  },
  host: '127.0.0.1',
  port: 0,
  log: createLog('stub-ranking-worker', { level: 'warn' }),
}).then(
  ({ address }) => process.stdout.write(`${address}\n`),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
