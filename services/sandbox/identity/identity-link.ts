import { randomUUID } from 'node:crypto';
import { type WebSocket } from 'ws';
import { captchaImage, captchaText } from './identity-captcha';

/** A message of the link, either way. */
export type Message = Readonly<Record<string, unknown>>;

/** A session holds the Aadhaar number, or nothing. */
export interface LinkSession {
  readonly subject: string;
  /** Index of the captcha shown, from 0. */
  captcha: number;
  /** An accepted captcha cannot be used again. */
  solved: boolean;
}

/** The reply to a message; undefined means that none ever comes. */
export type LinkReply = Message | undefined;

export interface LinkRules {
  /** The member of `start` that the session keeps. */
  readonly subjectMember?: string;
  /** Undefined opens the session. */
  refuseStart?(subject: string): { readonly answer: LinkReply } | undefined;
  /** Handles any other message of a session. Undefined means no reply. Call `end` when the session is over. */
  answer(message: Message, session: LinkSession, tools: { end(this: void): void }): LinkReply;
}

/** New sessions replace the oldest ones. */
const MAX_SESSIONS = 20_000;

export function textOf(message: Message, member: string): string {
  const value = message[member];
  return typeof value === 'string' ? value : '';
}

export function errorMessage(code: string): Message {
  return { type: 'error', code, message: `The sandbox says ${code}.` };
}

/** The image of the session's present captcha. */
function showCaptcha({ captcha }: LinkSession): Message {
  return { type: 'captcha', captcha: captchaImage(captcha) };
}

/** Shows the next captcha. The previous one becomes void. */
export function showNextCaptcha(session: LinkSession): Message {
  session.captcha++;
  return showCaptcha(session);
}

export function solves(session: LinkSession, solution: string): boolean {
  return !session.solved && solution.toUpperCase() === captchaText(session.captcha);
}

function parse(data: Buffer): Message | undefined {
  try {
    const message: unknown = JSON.parse(data.toString('utf8'));
    return typeof message === 'object' && message !== null ? (message as Message) : undefined;
  } catch {
    return undefined;
  }
}

/** One kind of link. Its sessions outlive a connection, as a real upstream's do. */
export function createLinkServer(rules: LinkRules): (socket: WebSocket) => void {
  const sessions = new Map<string, LinkSession>();

  const start = (message: Message): LinkReply => {
    const requestId = textOf(message, 'requestId');
    const subject = rules.subjectMember === undefined ? '' : textOf(message, rules.subjectMember);
    const refused = rules.refuseStart?.(subject);
    if (refused) return refused.answer && { ...refused.answer, requestId };
    const sessionId = randomUUID();
    const session: LinkSession = { subject, captcha: 0, solved: false };
    sessions.set(sessionId, session);
    for (const oldest of sessions.keys()) {
      if (sessions.size <= MAX_SESSIONS) break;
      sessions.delete(oldest);
    }
    return { ...showCaptcha(session), requestId, sessionId };
  };

  const answer = (message: Message): LinkReply => {
    if (message.type === 'start') return start(message);
    const sessionId = textOf(message, 'sessionId');
    const session = sessions.get(sessionId);
    const said = session ? rules.answer(message, session, { end: () => sessions.delete(sessionId) }) : errorMessage('session_unknown');
    return said && { ...said, sessionId };
  };

  return (socket) => {
    socket.on('error', () => socket.terminate());
    socket.on('message', (data: Buffer) => {
      const message = parse(data);
      const said = message ? answer(message) : errorMessage('upstream');
      if (said) socket.send(JSON.stringify(said));
    });
  };
}
