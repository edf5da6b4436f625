import { type Reply, send, type Sending } from '../../../test/support/http';
import { atRate, inLoops, NO_ANSWER, shoot, type Shot } from '../attacker';
import { type Neighbourhood } from '../neighbourhood';
import { type Attack } from '../observe-attack';

const PASSWORD = 'correct horse battery';

/** Sends a request to the dashboard as its own pages do. */
function ask(url: string, { body, cookie, ...sending }: Omit<Sending, 'body'> & { body?: object; cookie?: string }): Promise<Reply> {
  const headers = {
    origin: new URL(url).origin,
    ...(body && { 'content-type': 'application/json' }),
    ...(cookie !== undefined && { cookie }),
  };
  return send(url, { ...sending, headers, ...(body && { body: JSON.stringify(body) }) });
}

const shotOf = (reply: Promise<Reply>): Promise<Shot> =>
  reply.then(
    ({ status }) => ({ status, charged: false }),
    () => NO_ANSWER,
  );

interface Outbox {
  readonly mails: readonly { readonly to: string; readonly text: string }[];
}

/** Signs up, and confirms the address with the mail in the outbox. @returns the session's cookie */
async function signUp(dashboard: string, email: string): Promise<string> {
  await ask(`${dashboard}/api/auth/sign-up/email`, { method: 'POST', body: { email, password: PASSWORD } });
  for (;;) {
    const { mails } = (await ask(`${dashboard}/api/outbox`, { method: 'GET' })).json() as Outbox;
    const link = /https?:\/\/\S+/.exec(mails.find(({ to }) => to === email)?.text ?? '')?.[0];
    if (link === undefined) continue;
    const token = new URL(link).searchParams.get('token');
    const verified = await ask(`${dashboard}/api/auth/verify-email`, { method: 'POST', body: { token, password: PASSWORD } });
    if (verified.status !== 200) throw new Error(`the address could not be confirmed: ${verified.status}`);
    return (verified.headers['set-cookie'] ?? []).map((each) => each.split(';')[0]).join('; ');
  }
}

/** A different network each time. All of them are loopback. */
const somewhere = (index: number): string => `127.${1 + (index % 200)}.${(index >> 3) % 250}.1`;

const ODD_PATHS = ['/../x', '//x', '/%00', `/${'a'.repeat(9_000)}`, '/api/%ff', '/api/keys/%00'];

export const dashboardAttacks: readonly Attack[] = [
  {
    name: 'rules replaced again and again',
    paths: [],
    async prepare({ installation, newKey }: Neighbourhood) {
      const { dashboard } = installation.instance;
      const customer = installation.newEmail();
      const cookie = await signUp(dashboard, customer);
      const { id } = await newKey({ products: ['api-ip'], customer });
      const url = `${dashboard}/api/keys/${id}`;
      const lists = [20_000, 30_000].map((first) =>
        Array.from({ length: 1_000 }, (_, index) => `10.${(first + index) >> 8}.${index & 255}.0/24`),
      );
      return (signal) =>
        inLoops(2, signal, async (index) => {
          const shown = await ask(url, { method: 'GET', cookie, signal }).catch(() => undefined);
          if (!shown) return NO_ANSWER;
          const { version } = shown.json() as { version?: number };
          return shotOf(ask(`${url}/rules`, { method: 'PUT', cookie, body: { version, rules: lists[index % 2] }, signal }));
        });
    },
  },
  {
    name: '40 sign-ins a second from everywhere',
    paths: [],
    prepare: ({ installation }) =>
      Promise.resolve((signal) => {
        const url = `${installation.instance.dashboard}/api/auth/sign-in/email`;
        const body = (index: number): object => ({ email: `nobody-${index}@example.com`, password: PASSWORD });
        return atRate(40, signal, (index) => shotOf(ask(url, { method: 'POST', body: body(index), from: somewhere(index) })));
      }),
  },
  {
    name: 'odd paths of the dashboard',
    paths: [],
    prepare: ({ installation }) =>
      Promise.resolve((signal) =>
        atRate(50, signal, (index) => shoot(new URL(installation.instance.dashboard).origin + ODD_PATHS[index % ODD_PATHS.length])),
      ),
    verify: (_neighbourhood, { statuses }) => expect([...statuses.keys()].filter((status) => status < 400 || status >= 500)).toEqual([]),
  },
];
