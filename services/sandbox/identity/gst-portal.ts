import { randomUUID } from 'node:crypto';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { captchaImage, captchaText } from './identity-captcha';
import { GSTINS, registrationRecord } from './identity-gst';
import { neverAnswer, type SandboxUpstream } from '../sandbox-upstream';

const SESSION_COOKIE = 'PortalSession';
const CAPTCHA_COOKIE = 'CaptchaCookie';
const MAX_SESSIONS = 20_000;

interface PortalSession {
  /** Number of captchas shown. Only the last one counts. */
  shown: number;
  /** Value of the cookie of the last captcha; undefined when that captcha was used. */
  captchaCookie: string | undefined;
}

function cookieOf(request: FastifyRequest, name: string): string {
  const pairs = (request.headers.cookie ?? '').split('; ').map((pair) => pair.split('=', 2));
  return pairs.find(([each]) => each === name)?.[1] ?? '';
}

const WRONG_CAPTCHA = { url: '/', message: null, errorCode: 'SWEB_9000' };
const NO_SUCH_NUMBER = { status_cd: '0', error: { message: 'Invalid GSTIN / UID', error_cd: 'SWEB_9035' }, cmpRt: 'NA' };

/** @param gstin outcomes are the same as those of the link */
function answerFor(gstin: string, reply: FastifyReply): unknown {
  switch (gstin) {
    case GSTINS.notFound:
      return NO_SUCH_NUMBER;
    case GSTINS.upstreamError:
      return { url: '/', message: null, errorCode: 'SWEB_8000' };
    case GSTINS.unexpected:
      return reply.type('text/html').send('<html><body>Service Temporarily Unavailable</body></html>');
    case GSTINS.timeout:
      return neverAnswer(reply);
    default:
      return registrationRecord(gstin);
  }
}

/** The tax portal's search of taxpayers: a page that sets a cookie, a captcha, a query. Refusals have status 200. */
export function createGstPortal(): SandboxUpstream {
  const sessions = new Map<string, PortalSession>();
  return {
    name: 'gst-portal',
    examples: [],
    routes(app) {
      app.get('/searchtp', (_request, reply) => {
        const id = randomUUID();
        sessions.set(id, { shown: 0, captchaCookie: undefined });
        for (const oldest of sessions.keys()) {
          if (sessions.size <= MAX_SESSIONS) break;
          sessions.delete(oldest);
        }
        const expires = 'Expires=Thu, 31 Dec 2099 23:59:59 GMT';
        return reply
          .header('set-cookie', [`Lang=en; Path=/; ${expires}`, `${SESSION_COOKIE}=${id}; Path=/; HttpOnly; ${expires}`])
          .type('text/html')
          .send('<html><body>Search Taxpayer</body></html>');
      });
      app.get('/captcha', (request, reply) => {
        const session = sessions.get(cookieOf(request, SESSION_COOKIE));
        if (!session) return reply.code(403).send('');
        session.captchaCookie = randomUUID();
        const image = Buffer.from(captchaImage(session.shown++), 'base64');
        return reply
          .header('set-cookie', `${CAPTCHA_COOKIE}=${session.captchaCookie}; Path=/; Secure; HttpOnly`)
          .type('image/png')
          .send(image);
      });
      app.post<{ Body: { gstin?: string; captcha?: string } }>('/api/search/taxpayerDetails', (request, reply) => {
        const session = sessions.get(cookieOf(request, SESSION_COOKIE));
        const { gstin = '', captcha = '' } = request.body;
        const isShown = session?.captchaCookie !== undefined && session.captchaCookie === cookieOf(request, CAPTCHA_COOKIE);
        if (!session || !isShown || captcha.toUpperCase() !== captchaText(session.shown - 1)) return WRONG_CAPTCHA;
        session.captchaCookie = undefined;
        return answerFor(gstin, reply);
      });
    },
  };
}
