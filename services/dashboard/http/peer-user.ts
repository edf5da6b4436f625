import { readFile } from 'node:fs/promises';
import { type Socket } from 'node:net';
import { parseIpAddress } from '../../../plugins/core/access/ip-address';

/** Linux lists every TCP connection of this machine with its user, readable by everybody. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
/** Columns of a row: local address, remote address, state, …, user. */
const ROW = /^\s*\d+: (\S+) (\S+) (\S+) \S+ \S+ \S+\s+(\d+)/;
/** A connection that its process has closed has no user any more, and is listed as root's. */
const ESTABLISHED = '01';

type Ends = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/** `0100007F:1F90` is 127.0.0.1, port 8080: words of four bytes, each with its last byte first. */
function endOf(text: string): string {
  const [words = '', port = ''] = text.split(':');
  const bytes = [...words.matchAll(/.{8}/g)].flatMap(([word]) => (word.match(/../g) ?? []).reverse());
  const address =
    bytes.length === 4 ? bytes.map((byte) => Number.parseInt(byte, 16)).join('.') : bytes.join('').replace(/.{4}(?=.)/g, '$&:');
  return nameOf(address, Number.parseInt(port, 16));
}

/** One text for each address, IPv4 within IPv6 included. */
const nameOf = (address: string, port: number): string => `${parseIpAddress(address)?.text ?? address} ${port}`;

async function readTable(path: string): Promise<string[]> {
  return (await readFile(path, 'utf8').catch(() => '')).split('\n');
}

/**
 * The user at the other end of a connection.
 * @returns the user's number; undefined for another machine, or if the system does not say
 */
export async function findPeerUser({ remoteAddress, remotePort, localAddress, localPort }: Ends): Promise<number | undefined> {
  if (remoteAddress === undefined || remotePort === undefined || localAddress === undefined || localPort === undefined) return undefined;
  const [peer, own] = [nameOf(remoteAddress, remotePort), nameOf(localAddress, localPort)];
  for (const line of (await Promise.all(TABLES.map(readTable))).flat()) {
    const [, local = '', remote = '', state, user] = ROW.exec(line) ?? [];
    if (state === ESTABLISHED && endOf(local) === peer && endOf(remote) === own) return Number(user);
  }
  return undefined;
}

/** Whether the process at the other end belongs to the user who runs this one, or to root, who may read everything. */
export async function isOwnUser(socket: Ends): Promise<boolean> {
  const user = await findPeerUser(socket);
  return user !== undefined && (user === process.getuid?.() || user === 0);
}
