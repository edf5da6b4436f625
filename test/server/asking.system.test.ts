import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openChannel, sendTo } from '../../plugins/server/workers/asking';

const LISTENS = 'process.on("message", () => undefined)';
/** Long enough for the kernel to end a process that was killed, while this one's events wait. */
const UNNOTICED_MS = 200;

describe('what is sent to a process that has ended is lost, and its parent goes on', () => {
  it.each([
    ['before the parent knows', () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, UNNOTICED_MS)],
    ['after it', (ended: Promise<unknown>) => ended],
  ])('%s', async (_, wait) => {
    const child = spawn(process.execPath, ['-e', LISTENS], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    const errors: Error[] = [];
    child.on('error', (error) => errors.push(error));
    const ended = once(child, 'close');
    const ask = openChannel(child, () => undefined);
    child.kill('SIGKILL');
    await wait(ended);
    sendTo(child, { tollgate: 'answers', lines: 'a line' });
    void ask({ what: 'metrics' });
    await ended;
    // Errors of a channel are told in the next turn.
    await new Promise(setImmediate);
    expect(errors).toEqual([]);
  });
});
