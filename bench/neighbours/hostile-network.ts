import { createSocket, type Socket } from 'node:dgram';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readDnsQuestion, RECORD_TYPES, writeDnsAnswer } from '../../services/sandbox/ip/dns-message';

/** A public address that leads to the web server here in the installation. */
const ADDRESS = '93.184.216.34';
/** Queries about these names never get a response. */
const SILENT = /\.silent\.example$/;
const KNOWN = /\.(?:shop|hostile)\.example$/;
const PRELOAD = join(__dirname, 'redirect-network.cjs');

/** The part of the public internet that an attacker controls: names that no server resolves, and pages that are made to be slow. */
export interface HostileNetwork {
  /** For the environment of an installation. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * The site that every `http://NAME.hostile.example/` serves from now on, in some kilobytes of gzip; every `NAME.shop.example` has a small
   * page.
   */
  serve(site: { readonly page: Buffer; readonly robots?: Buffer }): void;
  close(): Promise<void>;
}

function answerTo(message: Buffer): Buffer | undefined {
  const question = readDnsQuestion(message);
  if (!question || SILENT.test(question.name)) return undefined;
  const exists = KNOWN.test(question.name);
  const answers = exists && question.type === RECORD_TYPES.A ? [{ bytes: Buffer.from(ADDRESS.split('.').map(Number)) }] : [];
  return writeDnsAnswer(question, { exists, answers });
}

async function startNameServer(): Promise<Socket> {
  const server = createSocket('udp4');
  await new Promise<void>((ready) => server.bind(0, '127.0.0.1', ready));
  server.on('message', (message, { port, address }) => {
    const answer = answerTo(message);
    if (answer) server.send(answer, port, address);
  });
  return server;
}

const SMALL_PAGE = Buffer.from(
  `<html><head><title>A shop</title></head><body>${'<p>Words and <a href="/next">a link</a>.</p>'.repeat(20)}</body></html>`,
);

/** The responses of the attacker's hosts, compressed. */
interface HostileSite {
  readonly page: Uint8Array;
  readonly robots: Uint8Array | undefined;
}

function startWeb(siteNow: () => HostileSite): Promise<Server> {
  const server = createServer((request, response) => {
    const isHostile = request.headers.host?.endsWith('.hostile.example') ?? false;
    const packed = { 'content-encoding': 'gzip' };
    const { page, robots } = siteNow();
    if (request.url === '/robots.txt')
      return isHostile && robots ? response.writeHead(200, packed).end(robots) : response.writeHead(404).end();
    const type = { 'content-type': 'text/html; charset=utf-8' };
    return isHostile ? response.writeHead(200, { ...type, ...packed }).end(page) : response.writeHead(200, type).end(SMALL_PAGE);
  });
  return new Promise((ready) => server.listen(0, '127.0.0.1', () => ready(server)));
}

export async function startHostileNetwork(): Promise<HostileNetwork> {
  let site: HostileSite = { page: gzipSync(SMALL_PAGE), robots: undefined };
  const [nameServer, web] = await Promise.all([startNameServer(), startWeb(() => site)]);
  const ports = { dns: nameServer.address().port, web: (web.address() as AddressInfo).port, address: ADDRESS };
  return {
    env: {
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --require ${PRELOAD}`.trim(),
      HOSTILE_NETWORK: JSON.stringify(ports),
      IP_DNS_SERVERS: `127.0.0.1:${ports.dns}`,
    },
    serve: ({ page, robots }) => void (site = { page: gzipSync(page), robots: robots && gzipSync(robots) }),
    async close() {
      web.closeAllConnections();
      await new Promise((done) => web.close(done));
      await new Promise<void>((done) => nameServer.close(() => done()));
    },
  };
}
