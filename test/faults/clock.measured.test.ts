import { join } from 'node:path';
import { expireKey } from '../../services/selling/keys/set-key-state';
import { eventually } from '../support/eventually';
import { recordObservation } from '../support/faults/fault-report';
import { openFaultStage, type FaultStage } from '../support/faults/fault-stage';
import { send } from '../support/http';
import { firstOf, inTestAll } from '../support/scenes';
import { expectDocumented, observeFault } from '../support/faults/observe-fault';

const TEN_MINUTES_MS = 600_000;
const nodeArgs = ['--require', join(__dirname, '..', 'support', 'stepped-clock.cjs')];

let stage: FaultStage;

beforeAll(async () => {
  const serviceEnv = { CLOCK_OFFSETS_MS: `${TEN_MINUTES_MS},0,-${TEN_MINUTES_MS},0` };
  stage = await openFaultStage({ serviceNodeArgs: nodeArgs, serviceEnv });
});

afterAll(() => stage?.close());

async function codeOf(url: string, key: string): Promise<string> {
  const reply = await send(url, { headers: { 'X-API-Key': key } });
  return reply.status === 200 ? 'served' : String(reply.json().code);
}

/** Behind is the dangerous way: a key would live on. */
const WAYS: readonly (readonly [way: string, offsetMs: number])[] = [
  ['behind', -TEN_MINUTES_MS],
  ['ahead', TEN_MINUTES_MS],
];

describe.each(firstOf(WAYS))("a node's clock that is set 10 minutes %s", (way, offsetMs) => {
  it('changes nothing: keys end on time, services believe the proofs, every unit is counted', async () => {
    const { node, target } = await stage.addNode({ nodeArgs, env: { CLOCK_OFFSETS_MS: String(offsetMs) } });
    const [ending, ended] = [await stage.newKey(), await stage.newKey()];
    /** Lets the key end, but not before it was used: a busy machine is given more time for that. */
    const endIn = async (ms: number): Promise<number> => {
      const endsAt = Date.now() + ms;
      await expireKey(stage.db, { id: ending.id, at: new Date(endsAt), actor: 'test' });
      return (await codeOf(target.url, ending.key)) === 'served' ? endsAt : endIn(2 * ms);
    };
    await expireKey(stage.db, { id: ended.id, at: new Date(), actor: 'test' });
    const seen = await observeFault(target, {
      async inflict() {
        for (const child of [node.pluginServer, node.gatewayProcess]) child.kill('SIGUSR2');
        expect(await codeOf(target.url, ended.key)).toBe('key_expired');
        const endsAt = await endIn(1_000);
        await eventually(async () => (await codeOf(target.url, ending.key)) === 'key_expired');
        expect(Date.now()).toBeGreaterThan(endsAt - 100);
      },
      lastsMs: 500,
      lift: () => undefined,
      recoversWithinMs: 5_000,
    });
    expectDocumented(seen, { statuses: [] });
    await recordObservation(`a node's clock 10 min ${way}`, seen, { note: 'keys end on time' });
    await node.stop();
  });
});

describe("a service's clock that is set 10 minutes", () => {
  const turnClock = (): void => void stage.service.child.kill('SIGUSR2');
  const metrics = async (): Promise<string> => (await send(`${String(stage.service.ready['private'])}/metrics`)).text;
  const plan = { inflict: turnClock, lastsMs: 500, lift: turnClock, recoversWithinMs: 5_000 };

  it('ahead has it refuse every proof, which stays charged, until the clock is right', async () => {
    const seen = await observeFault({ ...stage.target, metrics }, { ...plan, lastsFor: { status: 401, answers: 21 } });
    expect(seen.answers.statuses('valid').get(401)).toBeGreaterThan(20);
    expectDocumented(seen, { statuses: [401] });
    await recordObservation("a service's clock 10 min ahead", seen, { note: '401 `gateway_proof_missing`' });
  });

  inTestAll('behind changes nothing for callers', async () => {
    const seen = await observeFault({ ...stage.target, metrics }, plan);
    expectDocumented(seen, { statuses: [] });
    await recordObservation("a service's clock 10 min behind", seen, { note: 'a stolen proof is good for 11 min' });
  });
});
