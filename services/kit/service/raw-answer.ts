import { STATUS_CODES } from 'node:http';
import { type FailureAnswer, PROBLEM_TYPE } from '../errors';

/** A refusal as the bytes of an HTTP/1.1 response that ends its connection, for sockets on which Node offers no response object. */
export function rawAnswer({ status, body }: FailureAnswer): string {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}
