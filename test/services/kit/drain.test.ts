import { Agent, request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import type * as Timers from 'node:timers/promises';
import { defineRoute, defineService } from '../../../services/kit/service/define-service';
import { createServiceApp } from '../../../services/kit/service/service-app';
import { eventually } from '../../support/eventually';
import { contextFor, proofHeader, PROOF, testClock } from './harness';
import { CATALOGUE } from '../../support/catalogue';

const LEAVE_MS = 3_600_000;
/** Ends the moment for which requests are still taken. */
let mockEndLeaving: () => void;
jest.mock('node:timers/promises', () => {
  const { setTimeout: sleep } = jest.requireActual<typeof Timers>('node:timers/promises');
  const held = (): Promise<void> => new Promise((resolve) => (mockEndLeaving = resolve));
  return { setTimeout: (ms: number) => (ms < 3_600_000 ? sleep(ms) : held()) };
});

const service = defineService({
  name: 'leaving',
  products: ['api-gst'],
  createDeps: () => ({}),
  routes: [defineRoute({ method: 'ANY', path: '/gst/start', body: { kind: 'ignored' }, handler: () => ({ done: true }) })],
});
const headers = proofHeader(contextFor('api-gst'));

describe('a service that is told to close', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let app: ReturnType<typeof createServiceApp>;
  let port: number;
  beforeEach(async () => {
    app = createServiceApp(service, {
      contextKeys: PROOF.contextKeys,
      clock: testClock,
      catalogue: CATALOGUE,
      deps: {},
      leaveMs: LEAVE_MS,
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    port = (app.server.address() as AddressInfo).port;
  });
  afterEach(async () => {
    agent.destroy();
    const closed = app.close();
    mockEndLeaving();
    await closed;
  });

  const get = (given: Record<string, string>): Promise<{ status: number | undefined; connection: string | undefined }> =>
    new Promise((resolve, reject) => {
      const outgoing = request({ agent, host: '127.0.0.1', port, path: '/gst/start', headers: given }, (response) => {
        response.resume().on('end', () => resolve({ status: response.statusCode, connection: response.headers.connection }));
      });
      outgoing.on('error', reject).end();
    });

  test('takes requests for a moment, old connections and new, and closes each with its answer', async () => {
    expect(await get(headers)).toEqual({ status: 200, connection: 'keep-alive' });
    const closed = app.close();
    await eventually(async () => (await get(headers)).connection === 'close');
    expect(await get(headers)).toEqual({ status: 200, connection: 'close' });
    mockEndLeaving();
    await closed;
    await expect(get(headers)).rejects.toThrow('ECONNREFUSED');
  });

  test('tells a health check, which has no proof, that it is going, and serves it nothing', async () => {
    expect((await get({})).status).toBe(401);
    const closed = app.close();
    await eventually(async () => (await get({})).status === 503);
    mockEndLeaving();
    await closed;
  });

  test('waits for no connection that is silent', async () => {
    const silent = connect(port, '127.0.0.1');
    await once(silent, 'connect');
    const closed = app.close();
    await eventually(async () => (await get({})).status === 503);
    mockEndLeaving();
    await closed;
    silent.destroy();
  });
});
