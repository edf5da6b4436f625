import { randomUUID } from 'node:crypto';
import { readKeyUsage } from '../../plugins/stores/postgres/decisions/read-key-hours';
import { SERVICES } from '../../services/registry';
import { runServices } from '../../services/run-services';
import { testDatabase } from '../support/postgres/postgres';
import { contextFor, proofHeader, PROOF } from './kit/harness';

const DAY_MS = 86_400_000;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

test('services write what they answered to a key, at the latest when they stop', async () => {
  const database = await testDatabase();
  const keyId = randomUUID();
  const running = await runServices([SERVICES.vahaan], {
    DATABASE_URL: database.url,
    QUOTA_TIMEZONE: 'UTC',
    TOLLGATE_CONTEXT_JWKS: PROOF.keySet,
    SERVICE_PORT: '0',
    PRIVATE_PORT: '0',
    SERVICE_LEAVE_MS: '0',
    LOG_LEVEL: 'silent',
  });
  const headers = proofHeader(contextFor('api-vahaan', { credentialId: keyId, expiresAt: Math.ceil(Date.now() / 1_000) + 60 }));
  const answers = await Promise.all(['', '/unknown'].map((path) => fetch(`${running.services['vahaan']}/vahaan${path}`, { headers })));
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  await running.close();
  const period = { fromDay: dayOf(Date.now() - DAY_MS), toDay: dayOf(Date.now() + DAY_MS), timeZone: 'UTC' };
  const use = await readKeyUsage(database.pool, { keyId, ...period, by: 'day' });
  expect(use).toMatchObject([{ product: 'api-vahaan', admitted: 0, answers: { succeeded: 1, rejected: 1, failed: 0, abandoned: 0 } }]);
  await database.close();
});
