import { randomUUID } from 'node:crypto';
import { ServiceError, upstreamFailure } from '../../../kit/errors';
import { type Log } from '../../../kit/log';
import { type JsonFrame, JsonLink, type JsonLinkOptions, type Waiting } from '../../../kit/upstream/json-link';
import { LinkFailure } from '../../../kit/upstream/link-connection';
import { parseRankingFrame, rankMessage, type RankParameters } from './ranking-frames';

export type RankingLinkOptions = Omit<JsonLinkOptions<string>, 'receive' | 'repeats' | 'upstream'>;

/** Queries and replies over one WebSocket, matched by id. A query whose connection was lost is sent once more. */
export class RankingLink {
  private readonly link: JsonLink<string>;

  constructor(options: RankingLinkOptions) {
    this.link = new JsonLink({
      ...options,
      upstream: 'ranking_websocket',
      repeats: true,
      receive: (frame, waiting) => settle(frame, waiting, options.log),
    });
  }

  /**
   * @returns the text of the upstream's body, unchanged
   * @throws ServiceError `upstream_timeout` or `upstream_failed`, also when the caller leaves
   */
  async ask(parameters: RankParameters, signal: AbortSignal): Promise<string> {
    const id = randomUUID();
    try {
      return await this.link.exchange({ key: id, message: rankMessage(id, parameters) }, signal);
    } catch (error) {
      if (!(error instanceof LinkFailure) || error.kind === 'late') throw upstreamFailure(error);
      if (error.kind === 'garbled') throw failed('bad_response', 'The source of the ranking sent an unexpected response.', error);
      throw failed('unreachable', 'The source of the ranking could not be reached.', error);
    }
  }

  close(): void {
    this.link.close();
  }
}

function failed(reason: string, detail: string, cause?: unknown): ServiceError {
  return new ServiceError('upstream_failed', { detail, members: { reason }, cause });
}

function settle(received: JsonFrame, waiting: Waiting<string>, log: Log): void {
  const frame = parseRankingFrame(received);
  switch (frame.kind) {
    case 'result': {
      const asked = waiting.get(frame.id);
      if (frame.bodyText === undefined) asked?.reject(failed('bad_response', 'The source of the ranking responded without an ok flag.'));
      else asked?.resolve(frame.bodyText);
      return;
    }
    case 'error': {
      const failure = failed('upstream_error', 'The source of the ranking failed.');
      const concerned = frame.id === undefined ? [...waiting.values()] : [waiting.get(frame.id)];
      for (const waiter of concerned) waiter?.reject(failure);
      return;
    }
    case 'unknown':
      log.warn({ length: received.text.length }, 'the ranking link sent an unknown message');
  }
}
