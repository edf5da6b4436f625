// Preloaded into every Node.js child of the supervisor (node --require). The child's stdin is a pipe that the supervisor holds open and
// never writes to. It ends when the supervisor is gone, for whatever reason, and then the child must end too.
const { isMainThread } = require('node:worker_threads');
require('../bootstrap/navigator.cjs');

/** Milliseconds that the child's own SIGTERM handler has to drain before the process is ended. */
const GRACE_MS = 2_000;

if (isMainThread) {
  const leave = () => {
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => process.exit(1), GRACE_MS);
  };
  process.stdin.once('end', leave);
  process.stdin.once('error', leave);
  process.stdin.resume();
  // The watch must not keep a child alive that has nothing else to do.
  process.stdin.unref?.();
}
