import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listenWeb } from '../../kit/listen-web';
import { eventually } from '../../support/eventually';
import { openedForTests } from '../../support/opened';
import { compilePageThread } from '../../support/page-thread';
import { type SeoStage, startSeoStage } from './seo-stage';

const GOOD = '<title>Good</title><a href="https://shop.example/">shop</a>';
const MAX_READ_AT_ONCE = 1;

const parts = openedForTests();
let folder: string;
let stage: SeoStage;

/** Hosts whose pages a thread has taken, in order. */
const taken = () => readFileSync(join(folder, 'taken'), 'utf8').trim().split('\n');
const release = () => writeFileSync(join(folder, 'released'), '');

/** Reads pages as the real thread does, but is busy with each until the test releases it: the slowest page that there can be. */
async function heldThread(): Promise<string> {
  const file = join(folder, 'held-thread.cjs');
  const places = JSON.stringify({ real: await compilePageThread(), taken: join(folder, 'taken'), released: join(folder, 'released') });
  writeFileSync(
    file,
    `const { appendFileSync, existsSync } = require('node:fs');
     const places = ${places};
     const { readPageJob, judgeRobotsJob } = require(places.real);
     const pause = new Int32Array(new SharedArrayBuffer(4));
     exports.judgeRobotsJob = judgeRobotsJob;
     exports.readPageJob = (job) => {
       appendFileSync(places.taken, new URL(job.url).hostname + '\\n');
       while (!existsSync(places.released)) Atomics.wait(pause, 0, 0, 5);
       return readPageJob(job);
     };`,
  );
  return file;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hostile-pages-'));
  const web = await parts.keep(
    listenWeb((request, response) => {
      if (request.url === '/robots.txt') return void response.writeHead(404).end();
      response.setHeader('content-type', 'text/html');
      response.end(GOOD);
    }),
    (each) => each.close(),
  );
  const network = { dial: web.dial, resolve: () => Promise.resolve(['93.184.216.34']) };
  const env = { SEO_PARSE_THREADS: String(MAX_READ_AT_ONCE) };
  stage = await parts.keep(startSeoStage({ network, env, pageThread: await heldThread() }), (each) => each.close());
});

async function backlinks(subscriptionId: string, hosts: readonly string[]): Promise<unknown[]> {
  const body = { target: 'shop.example', limit: hosts.length, candidates: hosts.map((host) => `http://${host}/`) };
  const answer = await stage.call({ method: 'POST', url: '/seo/backlinks', payload: body, context: { subscriptionId } });
  return answer.json().data.backlinks.map(({ status, reason }: any) => [status, reason]);
}

it('another caller is next while one has hostile pages read, and the worker answers meanwhile', async () => {
  const hostile = Array.from({ length: 12 }, (_, index) => `slow${index}.example`);
  const attack = backlinks('attacker', hostile);
  await eventually(async () => (await stage.pagesWaiting()) === hostile.length - MAX_READ_AT_ONCE);
  const mine = backlinks('bystander', ['mine.example']);
  await eventually(async () => (await stage.pagesWaiting()) === hostile.length - MAX_READ_AT_ONCE + 1);
  await stage.worker.checkHealth();
  release();
  expect(await mine).toEqual([['verified', null]]);
  await attack;
  expect(taken().indexOf('mine.example')).toBe(MAX_READ_AT_ONCE);
});
