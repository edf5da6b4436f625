/** The part of npm `send` that the tests use. */
declare module 'send' {
  import { type IncomingMessage, type ServerResponse } from 'node:http';

  function send(
    request: IncomingMessage,
    path: string,
    options?: { etag?: boolean; lastModified?: boolean; cacheControl?: boolean },
  ): {
    pipe(response: ServerResponse): ServerResponse;
  };
  export = send;
}
