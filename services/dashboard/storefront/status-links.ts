import { createHmac, timingSafeEqual } from 'node:crypto';

/** Receives the form of the status page. */
export const ASK_PATH = '/status-mail';
/** Where the links in mails lead: one confirms the subscription, the other ends it. */
export const LINK_PATHS = { confirm: '/status-mail/confirm', end: '/status-mail/end' } as const;
export type LinkKind = keyof typeof LINK_PATHS;

/** Signs and reads the links in mails about the status. */
export interface StatusLinks {
  /** The whole address. */
  write(kind: LinkKind, subscription: string): string;
  /** The id of the subscription; undefined for a token that is not ours, or of another kind. @param token as it was sent */
  read(kind: LinkKind, token: unknown): string | undefined;
}

const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([\w-]{43})$/;

/**
 * @param options.secret the installation's; another secret makes all mailed links invalid
 * @param options.url origin of the dashboard
 */
export function createStatusLinks({ secret, url }: { readonly secret: string; readonly url: string }): StatusLinks {
  const sign = (kind: LinkKind, id: string): Buffer => createHmac('sha256', secret).update(`status-mail\0${kind}\0${id}`).digest();
  return {
    write: (kind, id) => `${url}${LINK_PATHS[kind]}?token=${id}.${sign(kind, id).toString('base64url')}`,
    read(kind, token) {
      const [, id = '', given = ''] = TOKEN.exec(typeof token === 'string' ? token : '') ?? [];
      return id !== '' && timingSafeEqual(Buffer.from(given, 'base64url'), sign(kind, id)) ? id : undefined;
    },
  };
}
