import { type IncomingMessage } from 'node:http';
import { type FastifyInstance, type FastifyReply } from 'fastify';
import { type WebSocket } from 'ws';

/** One documented input of a product and what a test key gets for it. */
export interface SandboxExample {
  readonly product: string;
  /** Full path below the gateway's base URL. */
  readonly route: string;
  readonly method: 'GET' | 'POST';
  /** `success`, or the name of the failure that the input provokes. */
  readonly outcome: string;
  /** Ready to send as the request's parameters. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Status and gist of the answer, in one line. */
  readonly yields: string;
}

/**
 * A simulated upstream. It speaks the real one's wire format and answers the same input in the same way for ever; it documents its own
 * inputs, so that the list at `GET /` cannot drift from what it does. It never imports the adapter that it is there to check.
 */
export interface SandboxUpstream {
  /** Its paths lie below `/<name>`. */
  readonly name: string;
  readonly examples: readonly SandboxExample[];
  /** Registers the HTTP routes; paths are relative to `/<name>`. */
  readonly routes?: (app: FastifyInstance) => void;
  /** WebSocket end points by path relative to `/<name>`. */
  readonly webSockets?: Readonly<Record<string, (socket: WebSocket, request: IncomingMessage) => void>>;
  /** Answers a datagram on the UDP port with the number of the HTTP port; undefined leaves it unanswered. One upstream at most. */
  readonly datagram?: (message: Buffer) => Buffer | undefined;
}

/** Leaves the request open for ever: what an upstream that hangs looks like. The client or the sandbox's end closes it. */
export function neverAnswer(reply: FastifyReply): void {
  reply.hijack();
}

/** Closes the connection without an answer. */
export function closeConnection(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.destroy();
}
