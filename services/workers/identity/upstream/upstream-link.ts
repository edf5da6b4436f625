import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { ServiceError } from '../../../kit/errors';
import { type JsonFrame, JsonLink, type JsonLinkOptions, type Waiter, type Waiting } from '../../../kit/upstream/json-link';
import { LinkFailure } from '../../../kit/upstream/link-connection';
import { memberText } from '../../../kit/upstream/member-text';
import { SourceFailure } from './source-failure';

/** A message to the upstream. A message that opens a session has no id yet and gets a `requestId`; all others name their session. */
export type IdentityMessage = { readonly type: string; readonly [member: string]: string };

/** A message from the upstream, whose members are still to be checked. */
const frameSchema = z.looseObject({
  type: z.string(),
  requestId: z.string().optional(),
  sessionId: z.string().optional(),
});
export type LinkFrame = z.output<typeof frameSchema> & {
  /** The text of `payload` as the upstream wrote it: parsing and printing would change large integers and `1.0`. */
  readonly payloadJson: string | undefined;
};

export type UpstreamLinkOptions = Omit<JsonLinkOptions<LinkFrame>, 'receive' | 'repeats'>;

/**
 * Exchanges over one WebSocket that all sessions share. A reply is matched by `requestId`, otherwise by `sessionId`: a session waits for at
 * most one reply. Nothing is sent twice, because a captcha or an OTP that may have arrived is used up.
 */
export class UpstreamLink {
  private readonly link: JsonLink<LinkFrame>;

  constructor(options: UpstreamLinkOptions) {
    this.link = new JsonLink({
      ...options,
      receive: (received, waiting) => {
        const frame = readFrame(received);
        if (!frame) return refuseUnreadable(received, waiting);
        const waiter = waiterOf(frame, waiting);
        if (waiter) waiter.resolve(frame);
        // Late replies are normal here. No session waits for them any more.
        else options.log.debug('a frame of the upstream belongs to no session');
      },
    });
  }

  /** Sends a message that opens a session. Fails as {@link exchange} does. */
  start(message: IdentityMessage, signal: AbortSignal): Promise<LinkFrame> {
    const requestId = randomUUID();
    return this.send({ ...message, requestId }, `request ${requestId}`, signal);
  }

  /**
   * Sends a message of a session.
   * @throws SourceFailure when the link cannot be opened, breaks or carries anything but JSON; ServiceError 504 when the handshake takes
   * too long; a `TimeoutError` when no reply came in time; the signal's reason
   */
  exchange(message: IdentityMessage & { readonly sessionId: string }, signal: AbortSignal): Promise<LinkFrame> {
    return this.send(message, `session ${message.sessionId}`, signal);
  }

  close(): void {
    this.link.close();
  }

  private async send(message: IdentityMessage, key: string, signal: AbortSignal): Promise<LinkFrame> {
    try {
      return await this.link.exchange({ key, message, operation: message.type }, signal);
    } catch (error) {
      if (!(error instanceof LinkFailure)) throw error;
      const failure = new SourceFailure(error.kind === 'garbled' ? 'bad_response' : 'unreachable', error.message, error.cause);
      throw error.kind === 'late' ? new ServiceError('upstream_timeout', { cause: failure }) : failure;
    }
  }
}

type Names = Pick<LinkFrame, 'requestId' | 'sessionId'>;

function namedIn({ requestId, sessionId }: Names, waiting: Waiting<LinkFrame>): Waiter<LinkFrame> | undefined {
  return (
    (requestId !== undefined && waiting.get(`request ${requestId}`)) ||
    (sessionId !== undefined && waiting.get(`session ${sessionId}`)) ||
    undefined
  );
}

const nameSchema = z.string().optional().catch(undefined);
const namesSchema = z.object({ requestId: nameSchema, sessionId: nameSchema }).catch({});

/** A frame without a type is not a reply. The call that it names fails now instead of at its deadline. */
function refuseUnreadable({ value }: JsonFrame, waiting: Waiting<LinkFrame>): void {
  namedIn(namesSchema.parse(value), waiting)?.reject(new LinkFailure('garbled', 'the upstream sent a frame without a type'));
}

function waiterOf({ type, requestId, sessionId }: LinkFrame, waiting: Waiting<LinkFrame>): Waiter<LinkFrame> | undefined {
  const named = namedIn({ requestId, sessionId }, waiting);
  if (named) return named;
  // The published form of an error does not name its session, so it can only be matched if a single session waits.
  const isNameless = type === 'error' && requestId === undefined && sessionId === undefined;
  return isNameless && waiting.size === 1 ? [...waiting.values()][0] : undefined;
}

function readFrame({ text, value }: JsonFrame): LinkFrame | undefined {
  const frame = frameSchema.safeParse(value).data;
  return frame && { ...frame, payloadJson: memberText(text, 'payload') };
}
