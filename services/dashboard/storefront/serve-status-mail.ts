import { createHmac } from 'node:crypto';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import { takeAttempt } from '../../selling/customers/attempts';
import { askForStatus, confirmStatus, endStatus, findStatusSubscription } from '../../selling/outages/status-subscriptions';
import { isDatabaseAway } from '../http/answer-error';
import { placeOf } from '../http/attempt-limits';
import { type DashboardDeps } from '../http/dashboard-deps';
import { isOffered } from '../brand/wording';
import { type PageShelf } from './page-shelf';
import { ASK_PATH, createStatusLinks, LINK_PATHS, type LinkKind } from './status-links';
import { type MailStep } from './status-mail-page';

interface StatusMailTools {
  readonly deps: DashboardDeps;
  /** The dashboard's own URL. */
  readonly url: string;
  /** Signs links, and keys the names under which callers are counted. */
  readonly secret: string;
  readonly shelf: PageShelf;
  readonly isSignedIn: (request: FastifyRequest) => boolean;
  readonly sendFailure: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
}

const HOUR_S = 3_600;
/**
 * Hourly limits. `ofOne`: from one network, such as an office with one address. `ofAll`: what may be added to the table, which forgets it
 * after a day.
 */
const MAX_WISHES = { ofOne: 20, ofAll: 300 } as const;
/** Few, because a stranger may cause these mails. A reader who wants several products needs as many. */
const MAILS_OF_MAILBOX = { most: 5, windowSeconds: 24 * HOUR_S } as const;

const BODY_LIMIT_BYTES = 4_096;
const wish = z.object({ email: z.string().trim().toLowerCase().max(254).pipe(z.email()), product: z.string().max(100) });

type Pages = (request: FastifyRequest) => Promise<{ readonly status?: number; readonly step: MailStep; readonly wait?: number }>;

/** Undefined if one more request is allowed, else the seconds to wait. */
async function countWish({ deps: { db }, secret }: StatusMailTools, address: string): Promise<number | undefined> {
  const place = createHmac('sha256', secret)
    .update(`status-mail\0${placeOf(address)}`)
    .digest('base64url');
  const own = await takeAttempt(db, { key: `status-mail|${place}`, most: MAX_WISHES.ofOne, windowSeconds: HOUR_S });
  return own ?? takeAttempt(db, { key: 'status-mail', most: MAX_WISHES.ofAll, windowSeconds: HOUR_S });
}

function takeWish(tools: StatusMailTools): Pages {
  const { deps } = tools;
  return async ({ body, ip }) => {
    const { email: typed = '', product: chosen = '' } = Object.fromEntries(new URLSearchParams(String(body)));
    const again = { kind: 'wrong', email: typed.slice(0, 254), product: chosen.slice(0, 100) } as const;
    const parsed = wish.safeParse({ email: typed, product: chosen });
    if (!parsed.success) return { status: 400, step: { ...again, problem: 'Enter an email address such as you@example.com.' } };
    const { email, product } = parsed.data;
    const { products } = await deps.catalogue();
    if (product !== '' && !products.some((each) => each.id === product && isOffered(each))) {
      return { status: 400, step: { ...again, product: '', problem: 'That product is not offered. Choose another, or all.' } };
    }
    const wait = await countWish(tools, ip);
    if (wait !== undefined) return { status: 429, step: { kind: 'busy' }, wait };
    // Not reported to the reader, because it would reveal who asked before.
    const isFull = (await takeAttempt(deps.db, { key: `status-mail|to|${deps.mailboxOf(email)}`, ...MAILS_OF_MAILBOX })) !== undefined;
    if (!isFull) await askForStatus(deps.db, { email, product: product === '' ? null : product });
    return { step: { kind: 'asked', email } };
  };
}

interface Link {
  readonly kind: LinkKind;
  readonly token: string;
  /** The subscription's id; undefined for a link that is not ours. */
  readonly id: string | undefined;
}

const UNUSABLE = { status: 404, step: { kind: 'unusable' } } as const;

/**
 * The form of the status page, and the pages that the links in its mails lead to: `/status-mail`. A link shows a button, because programs
 * that scan mail open links too. Unsubscribing needs none of our pages: mail programs do it by themselves.
 */
export function serveStatusMail(app: FastifyInstance, tools: StatusMailTools): void {
  const { deps, url, secret, shelf, isSignedIn, sendFailure } = tools;
  const links = createStatusLinks({ secret, url });
  const show =
    (pages: Pages) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      try {
        const { status = 200, step, wait } = await pages(request);
        const page = await shelf.statusMail(step, isSignedIn(request));
        if (wait !== undefined) reply.header('Retry-After', String(wait));
        return await reply.code(status).headers({ 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' }).send(page);
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
        deps.log.warn({ err: error, requestId: request.id }, 'a request failed');
        return sendFailure(request, reply.code(503).header('Retry-After', '1'));
      }
    };
  const linkOf = (request: FastifyRequest, kind: LinkKind): Link => {
    const token = z.object({ token: z.string() }).safeParse(request.query).data?.token ?? '';
    return { kind, token, id: links.read(kind, token) };
  };
  const open = async ({ kind, token, id }: Link) => {
    const found = id === undefined ? undefined : await findStatusSubscription(deps.db, id);
    if (!found) return UNUSABLE;
    return { step: { kind: 'opened', link: kind, token, email: found.email, product: found.product } } as const;
  };

  // Forms are accepted only here: elsewhere a form on another site's page is refused by its type.
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT_BYTES }, (_request, body, parsed) => parsed(null, body));
    scope.post(ASK_PATH, show(takeWish(tools)));
    scope.get(ASK_PATH, (_request, reply) => reply.redirect('/status'));
    scope.get(
      LINK_PATHS.confirm,
      show((request) => open(linkOf(request, 'confirm'))),
    );
    scope.get(
      LINK_PATHS.end,
      show((request) => open(linkOf(request, 'end'))),
    );
    scope.post(
      LINK_PATHS.confirm,
      show(async (request) => {
        const { id } = linkOf(request, 'confirm');
        const found = id === undefined ? undefined : await confirmStatus(deps.db, id);
        return found ? { step: { kind: 'confirmed', product: found.product } } : UNUSABLE;
      }),
    );
    scope.post(
      LINK_PATHS.end,
      show(async (request) => {
        const { id } = linkOf(request, 'end');
        if (id === undefined) return UNUSABLE;
        await endStatus(deps.db, id);
        return { step: { kind: 'ended' } };
      }),
    );
    done();
  });
}
