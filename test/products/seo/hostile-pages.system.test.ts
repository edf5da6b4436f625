import { listenWeb, type Web } from '../../kit/listen-web';
import { type SeoStage, startSeoStage } from './seo-stage';

/** The slowest page that is not too complex: every end tag looks through 510 open elements. */
const SLOW = '<div>'.repeat(510) + '</i>'.repeat(520_000);
const GOOD = '<title>Good</title><a href="https://shop.example/">shop</a>';

let web: Web;
let stage: SeoStage;
let onSlowPage: () => void = () => undefined;

beforeAll(async () => {
  web = await listenWeb((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    const host = request.headers.host ?? '';
    response.setHeader('content-type', 'text/html');
    if (host.startsWith('slow')) onSlowPage();
    response.end(host.startsWith('slow') ? SLOW : GOOD);
  });
  const network = { dial: web.dial, resolve: () => Promise.resolve(['93.184.216.34']) };
  stage = await startSeoStage({ network, env: { SEO_PARSE_THREADS: '1' } });
});
afterAll(async () => {
  await stage.close();
  await web.close();
});

const backlinks = async (hosts: readonly string[]) => {
  const body = { target: 'shop.example', limit: hosts.length, candidates: hosts.map((host) => `http://${host}/`) };
  return (await stage.post('/seo/backlinks', body, 'live')).json();
};
const rowsOf = (json: any) => json.data.backlinks.map(({ status, reason }: any) => [status, reason]);

it('another caller is answered while one has hostile pages read', async () => {
  const order: string[] = [];
  const hostile = Array.from({ length: 12 }, (_, index) => `slow${index}.example`);
  const begun = new Promise<void>((done) => (onSlowPage = done));
  const attack = backlinks(hostile).then((json) => {
    order.push('attacker');
    return json;
  });
  await begun;
  const mine = backlinks(['mine.example']).then((json) => {
    order.push('bystander');
    return json;
  });
  await stage.worker.checkHealth();
  expect(order).not.toContain('attacker');
  expect(rowsOf(await mine)).toEqual([['verified', null]]);
  await attack;
  expect(order).toEqual(['bystander', 'attacker']);
});
