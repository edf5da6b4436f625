import { IncomingMessage, ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { requestIdOf } from '../../access-layer/gateway-question';
import { refusalOf } from '../../access-layer/held-request';
import { type ReadOn } from '../../core/problems';
import { findProfile, GENERIC } from './gateway-profiles';
import { writeRefusal } from './write-answer';

/** Node's error for bytes that it could not parse as a request. */
export type ParseError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/**
 * Responds to a question with a header that gateways accept and Node does not, as the caller's mistake: 400 with a problem. Any other error
 * ends the connection.
 */
export function answerUnparsed(error: ParseError, socket: Socket, readOn: ReadOn | undefined): void {
  const isHead = error.code?.startsWith('HPE_INVALID_HEADER') === true || error.code === 'HPE_HEADER_OVERFLOW';
  if (!isHead || !socket.writable) {
    socket.destroy();
    return;
  }
  const text = error.rawPacket?.toString('latin1') ?? '';
  const [, kind = 'generic'] = /^[A-Z]+ \/([a-z-]+)\/authorize\//.exec(text) ?? [];
  const profile = findProfile(kind) ?? GENERIC;
  const named = profile.namesRequests ? /\r\nx-request-id: *([^\r\n]*)\r\n/i.exec(text)?.[1] : undefined;
  const requestId = requestIdOf(named);
  const response = new ServerResponse(new IncomingMessage(socket));
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.on('finish', () => socket.end());
  const detail = 'A header has a character that no header may have, or the headers are too long.';
  writeRefusal(response, refusalOf('request_not_readable', { requestId, detail, readOn }), { profile, requestId });
}
