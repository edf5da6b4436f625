import { type IncomingMessage } from 'node:http';
import { type FastifyInstance, type FastifyReply } from 'fastify';
import { type WebSocket } from 'ws';

/** One documented input of a product, and the result for a test key. */
export interface SandboxExample {
  readonly product: string;
  /** Full path below the gateway's base URL. */
  readonly route: string;
  readonly method: 'GET' | 'POST';
  /** `success`, or the name of the failure that the input causes. */
  readonly outcome: string;
  /** The request's parameters. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Status and gist of the response, in one line. */
  readonly yields: string;
}

/**
 * A simulated upstream. It speaks the real upstream's wire format and always responds to the same input in the same way. It documents its
 * own inputs, so that the list at `GET /` cannot differ from its behaviour. It never imports the adapter that it checks.
 */
export interface SandboxUpstream {
  /** Its paths lie below `/<name>`. */
  readonly name: string;
  readonly examples: readonly SandboxExample[];
  /** Registers the HTTP routes; paths are relative to `/<name>`. */
  readonly routes?: (app: FastifyInstance) => void;
  /** WebSocket endpoints by path relative to `/<name>`. */
  readonly webSockets?: Readonly<Record<string, (socket: WebSocket, request: IncomingMessage) => void>>;
  /** Replies to a datagram on the UDP port with the number of the HTTP port; undefined means no reply. At most one upstream has it. */
  readonly datagram?: (message: Buffer) => Buffer | undefined;
}

/** Leaves the request open for ever, like an upstream that hangs. Only the client or the sandbox's end closes it. */
export function neverAnswer(reply: FastifyReply): void {
  reply.hijack();
}

/** Closes the connection without a response. */
export function closeConnection(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.destroy();
}
