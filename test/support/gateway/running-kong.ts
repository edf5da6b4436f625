import { type KongInstallation } from './kong-container';

// Set-up and teardown run in one process, but jest may load this module once for each: a symbol of the process is shared.
const slot = Symbol.for('tollgate.test.kong');
const shared = globalThis as { [slot]?: KongInstallation };

export function keepRunningKong(kong: KongInstallation): void {
  shared[slot] = kong;
}

/** The Kong that the set-up started, once. */
export function takeRunningKong(): KongInstallation | undefined {
  const kong = shared[slot];
  delete shared[slot];
  return kong;
}
