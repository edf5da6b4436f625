import { Agent, request } from 'node:http';
import { type AddressInfo } from 'node:net';
import { defineRoute, defineService } from '../../services/kit/service/define-service';
import { createServiceApp } from '../../services/kit/service/service-app';
import { eventually } from '../support/eventually';
import { PROOF, contextFor, proofHeader } from './context';
import { testClock } from './test-clock';
import { CATALOGUE } from '../support/catalogue';

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
  /** Ends the moment for which requests are still taken. */
  let endLeaving: () => void;
  beforeEach(async () => {
    const left = new Promise<void>((resolve) => (endLeaving = resolve));
    app = createServiceApp(service, {
      contextKeys: PROOF.contextKeys,
      clock: testClock,
      catalogue: CATALOGUE,
      deps: {},
      leave: () => left,
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    port = (app.server.address() as AddressInfo).port;
  });
  afterEach(async () => {
    agent.destroy();
    const closed = app.close();
    endLeaving();
    await closed;
  });

  const get = (given: Record<string, string>): Promise<{ status: number | undefined; connection: string | undefined }> =>
    new Promise((resolve, reject) => {
      const outgoing = request({ agent, host: '127.0.0.1', port, path: '/gst/start', headers: given }, (response) => {
        response.resume().on('end', () => resolve({ status: response.statusCode, connection: response.headers.connection }));
      });
      outgoing.on('error', reject).end();
    });

  it('takes requests for a moment, old connections and new, and closes each with its answer', async () => {
    expect(await get(headers)).toEqual({ status: 200, connection: 'keep-alive' });
    const closed = app.close();
    await eventually(async () => (await get(headers)).connection === 'close');
    expect(await get(headers)).toEqual({ status: 200, connection: 'close' });
    endLeaving();
    await closed;
    await expect(get(headers)).rejects.toThrow('ECONNREFUSED');
  });

  it('tells a health check, which has no proof, that it is going, and serves it nothing', async () => {
    expect((await get({})).status).toBe(401);
    const closed = app.close();
    await eventually(async () => (await get({})).status === 503);
    endLeaving();
    await closed;
  });
});
