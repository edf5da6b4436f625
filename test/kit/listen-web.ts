import { type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { type Dial } from '../../services/kit/upstream/pinned-connector';
import { serve } from '../support/http';

export interface Web {
  readonly url: string;
  readonly asked: IncomingMessage[];
  /** Addresses that were dialled. */
  readonly dialled: string[];
  /** Takes whatever was judged public to this server: nothing leaves the machine. */
  readonly dial: Dial;
  close(): Promise<void>;
}

/** A server that answers as one test wants. */
export async function listenWeb(answer: (request: IncomingMessage, response: ServerResponse, url: URL) => unknown): Promise<Web> {
  const asked: IncomingMessage[] = [];
  const dialled: string[] = [];
  const { url, port, close } = await serve((request, response) => {
    asked.push(request);
    answer(request, response, new URL(request.url ?? '', `http://${request.headers.host}`));
  });
  return {
    asked,
    dialled,
    url,
    dial: (target, callback) => {
      dialled.push(target.hostname);
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => callback(null, socket)).once('error', (error) => callback(error, null));
    },
    close,
  };
}
