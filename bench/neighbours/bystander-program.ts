import { Agent, request } from 'node:http';
import { type BystanderAnswer, type BystanderCall, type BystanderCommand } from './bystander';

/**
 * The bystander in a process of its own, so that an attacker's work does not distort its measurements. It sends each of its calls in a
 * fixed rhythm, whether or not the last one got a response: waiting calls count for as long as they wait.
 */
const agent = new Agent({ keepAlive: true });
let answers: BystanderAnswer[] = [];
let timers: NodeJS.Timeout[] = [];
/** Open sessions, by call. */
const open = new Map<string, number>();
/** One less than the concurrent requests of a subscription: this customer keeps to the rules. */
const MAX_OPEN = 3;

const leftOf = (header: unknown): number | null => {
  const left = /"daily";r=(\d+)/.exec(String(header))?.[1];
  return left === undefined ? null : Number(left);
};

function sendOnce({ name, url, method, headers, body, isHeavy }: BystanderCall): void {
  const running = open.get(name) ?? 0;
  if (isHeavy && running >= MAX_OPEN) return;
  open.set(name, running + 1);
  const sentAt = performance.timeOrigin + performance.now();
  const settle = (answer: Pick<BystanderAnswer, 'status' | 'left' | 'text'>): void => {
    open.set(name, (open.get(name) ?? 1) - 1);
    answers.push({ name, sentAt, tookMs: performance.timeOrigin + performance.now() - sentAt, ...answer });
  };
  const outgoing = request(url, { agent, method, headers }, (response) => {
    let text = '';
    response.on('data', (chunk: Buffer) => (text = text.length < 1_000 ? text + chunk.toString('latin1') : text));
    response.on('error', () => settle({ status: 0, left: null, text }));
    response.on('end', () =>
      settle({ status: response.statusCode ?? 0, left: leftOf(response.headers['ratelimit']), text: text.slice(0, 500) }),
    );
  });
  outgoing.on('error', (error) => settle({ status: 0, left: null, text: error.message }));
  outgoing.end(body === undefined ? undefined : Buffer.from(body, 'base64'));
}

function watch(calls: readonly BystanderCall[]): void {
  answers = [];
  timers = calls.map((call) => setInterval(() => sendOnce(call), call.everyMs));
}

async function stop(): Promise<void> {
  timers.forEach(clearInterval);
  while ([...open.values()].some((running) => running > 0)) await new Promise((resume) => setTimeout(resume, 5));
  process.send?.(answers);
}

process.on('message', (command: BystanderCommand) => {
  if (command.kind === 'watch') watch(command.calls);
  else void stop();
});
process.on('disconnect', () => process.exit(0));
