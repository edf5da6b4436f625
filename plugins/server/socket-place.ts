import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, renameSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';

/** Kong and this server run as different users of one group. */
const socketMode = 0o660;
/** sizeof(sun_path) less its end: 108 bytes on Linux, 104 elsewhere. */
const maxPathBytes = process.platform === 'linux' ? 107 : 103;

/** Makes the directory. @throws Error when the path is served, too long, or no socket */
export async function checkPlace(socketPath: string): Promise<void> {
  if (Buffer.byteLength(socketPath) > maxPathBytes) throw new Error(`socket path longer than ${maxPathBytes} bytes: ${socketPath}`);
  mkdirSync(dirname(socketPath), { recursive: true });
  const found = lstatSync(socketPath, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) throw new Error(`${socketPath} exists and is not a socket`);
  if (await isServed(socketPath)) throw new Error(`another plugin server answers on ${socketPath}`);
}

/**
 * The path to bind before {@link placeSocket} moves the socket to its place. The move replaces an earlier server's socket in one step, and
 * the path stays when this server ends, because the system removes only the bound name. So the path is never missing between two servers:
 * meanwhile Kong's nginx would write the request line of every request, query included, to its error log.
 */
export function nameBeside(socketPath: string): string {
  return join(dirname(socketPath), `.p${randomBytes(3).toString('hex')}`);
}

/** Gives a socket that was bound beside the path to Kong. Does nothing when it is there already. */
export function placeSocket(beside: string, socketPath: string): void {
  if (!existsSync(beside)) return;
  chmodSync(beside, socketMode);
  renameSync(beside, socketPath);
}

function isServed(socketPath: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = connect(socketPath);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false);
      else reject(error);
    });
  });
}
