import { type FastifyInstance, type FastifyReply } from 'fastify';
import { type Ledger } from './ledger';
import { type StripeSession, type StripeSubscription } from './objects';

const escape = (text: string): string => text.replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);

const STYLE = `
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:34rem;margin:3rem auto;padding:0 1rem}
main{border:1px solid #8888;border-radius:12px;padding:1.5rem}h1{font-size:1.3rem;margin:0 0 .5rem}p{margin:.5rem 0}
form{margin:.5rem 0}button{font:inherit;padding:.5rem 1rem;border-radius:8px;border:1px solid #888;cursor:pointer;width:100%}
button.first{background:#3b5bdb;color:#fff;border-color:#3b5bdb}.note{opacity:.75;font-size:.9rem}.bad{color:#c92a2a}
@media (prefers-color-scheme:dark){.bad{color:#ff8787}}`;

/** A page without scripts, whose form may only be sent to the page itself. */
function page(reply: FastifyReply, title: string, body: string, status = 200): FastifyReply {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(title)}</title><style>${STYLE}</style>`;
  const note = '<p class="note">Sandbox: a stand-in for the payment provider. No money moves, and no card is asked for.</p>';
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(`<!doctype html><html lang="en"><head>${head}</head><body><main><h1>${escape(title)}</h1>${body}${note}</main></body></html>`);
}

function button(action: string, text: string, isFirst = false): string {
  return `<form method="post" action="${escape(action)}"><button${isFirst ? ' class="first"' : ''}>${escape(text)}</button></form>`;
}

const price = (amount: number, currency: string): string => {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: currency.toUpperCase() });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
};

function checkoutPage(reply: FastifyReply, session: StripeSession, problem = ''): FastifyReply {
  const { id, wish, cancel_url: back } = session;
  if (session.status !== 'open') return page(reply, 'This checkout is over', `<p><a href="${escape(back)}">Back</a></p>`, 410);
  const text = wish.trialDays > 0 ? `${wish.trialDays} days free, then ` : '';
  return page(
    reply,
    `Subscribe to ${wish.name}`,
    `<p>${text}<strong>${escape(price(wish.amount, wish.currency))}</strong> a month.</p>
    ${problem && `<p class="bad" role="alert">${escape(problem)}</p>`}
    ${button(`/pay/${id}/pay`, 'Pay', true)}${button(`/pay/${id}/decline`, 'Pay with a card that is declined')}
    ${button(`/pay/${id}/factor`, 'Pay with a card that asks for a second factor')}<p><a href="${escape(back)}">Go back without paying</a></p>`,
  );
}

/** Adds the pages to which customers are redirected. */
export function addHostedPages(app: FastifyInstance, ledger: Ledger): void {
  const { sessions, subscriptions, invoices, customers } = ledger.books;
  type Route = { Params: { id: string; act: string }; Querystring: { back?: string } };

  app.get<Route>('/pay/:id', ({ params: { id } }, reply) => {
    const session = sessions[id];
    return session ? checkoutPage(reply, session) : page(reply, 'No such checkout', '', 404);
  });
  app.post<Route>('/pay/:id/:act', ({ params: { id, act } }, reply) => {
    const session = sessions[id];
    if (!session) return page(reply, 'No such checkout', '', 404);
    if (session.status !== 'open' || act === 'decline') return checkoutPage(reply, session, 'Your card was declined.');
    if (act === 'factor') {
      const ways = `${button(`/pay/${id}/pay`, 'Complete', true)}${button(`/pay/${id}/decline`, 'Fail')}`;
      return page(reply, 'Your bank asks whether it is you', ways);
    }
    ledger.pay(session);
    return reply.redirect(session.success_url, 303);
  });

  app.get<Route>('/portal/:id', ({ params: { id }, query: { back = '' } }, reply) => {
    if (!customers[id]) return page(reply, 'No such customer', '', 404);
    const own = Object.values(subscriptions).filter(({ customer }) => customer === id);
    const isSafe = /^https?:\/\//.test(back);
    const list = own.map((each) => standing(each, back)).join('');
    return page(reply, 'Your subscriptions', `${list}${isSafe ? `<p><a href="${escape(back)}">Back</a></p>` : ''}`);
  });
  app.post<Route>('/subscriptions/:id/:act', ({ params: { id, act }, query: { back = '' } }, reply) => {
    const subscription = subscriptions[id];
    if (!subscription) return page(reply, 'No such subscription', '', 404);
    if (act === 'renew') ledger.renew(subscription, true);
    if (act === 'fail') ledger.renew(subscription, false);
    if (act === 'recover') ledger.recover(subscription);
    if (act === 'refund') ledger.refund(subscription);
    return reply.redirect(`/portal/${subscription.customer}?back=${encodeURIComponent(back)}`, 303);
  });
  app.get<Route>('/invoices/:id', ({ params: { id } }, reply) => {
    const invoice = invoices[id];
    if (!invoice) return page(reply, 'No such invoice', '', 404);
    return page(reply, `Invoice ${id}`, `<p>${escape(price(invoice.amount_due, invoice.currency))}: ${invoice.status}.</p>`);
  });
}

function standing(subscription: StripeSubscription, back: string): string {
  const { id, status, metadata, items } = subscription;
  const [item] = items.data;
  const act = (name: string): string => `/subscriptions/${id}/${name}?back=${encodeURIComponent(back)}`;
  const until = new Date(item.current_period_end * 1_000).toISOString().slice(0, 10);
  const acts =
    status === 'canceled'
      ? ''
      : status === 'past_due'
        ? button(act('recover'), 'Pay what is owed', true)
        : `${button(act('renew'), 'Let the month end: the renewal is paid')}${button(act('fail'), 'Let the month end: the card is declined')}${button(act('refund'), 'As the seller: refund the last payment')}`;
  const name = Object.values(metadata).slice(1).join(' ');
  return `<h2>${escape(name)}</h2><p>${status}, until ${until}, ${escape(price(item.price.unit_amount, item.price.currency))} a month.</p>${acts}`;
}
