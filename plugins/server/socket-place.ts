import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, renameSync, type Stats, statSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';

/** Kong and this server run as different users of one group. */
const socketMode = 0o660;
/** sizeof(sun_path) without its terminator: 108 bytes on Linux, 104 elsewhere. */
const maxPathBytes = process.platform === 'linux' ? 107 : 103;

const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o002;

/**
 * Why a folder is no place for the socket: a user who can replace the socket decides about every request. The folder's group may write,
 * because Kong belongs to it.
 * @param uid of this process; undefined where the system has no users
 */
export function findFolderProblem({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, ownUid: number | undefined): string | undefined {
  if (ownUid === undefined) return undefined;
  if (uid !== ownUid && uid !== 0)
    return `belongs to user ${uid}, who could replace the socket; it must belong to user ${ownUid} or to root`;
  // In a sticky folder like /tmp, users cannot replace each other's files.
  if ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0)
    return 'can be written by every user, who could replace the socket: chmod o-w';
  return undefined;
}

/** Makes the folder of a socket. @throws Error when others could replace the socket there */
export function makeSocketFolder(socketPath: string): void {
  const folder = dirname(socketPath);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const problem = findFolderProblem(statSync(folder), process.getuid?.());
  if (problem !== undefined) throw new Error(`the socket cannot be in ${folder}: it ${problem}`);
}

/** Makes the directory. @throws Error when others could replace the socket there, or when the path is served, too long, or no socket */
export async function checkPlace(socketPath: string): Promise<void> {
  if (Buffer.byteLength(socketPath) > maxPathBytes) throw new Error(`socket path longer than ${maxPathBytes} bytes: ${socketPath}`);
  makeSocketFolder(socketPath);
  const found = lstatSync(socketPath, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isSocket()) throw new Error(`${socketPath} exists and is not a socket`);
  if (await isServed(socketPath)) throw new Error(`another plugin server listens on ${socketPath}`);
}

/**
 * The path to bind before {@link placeSocket} moves the socket to its place. The move replaces an earlier server's socket in one step. The
 * path stays when this server ends, because the system removes only the bound name. So the path is never missing between two servers; if it
 * were, Kong's nginx would write the request line of every request, query included, to its error log.
 */
export function nameBeside(socketPath: string): string {
  return join(dirname(socketPath), `.p${randomBytes(3).toString('hex')}`);
}

/** Moves a socket that was bound beside the path to Kong's path. Does nothing when it is there already. */
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
