import { randomUUID } from 'node:crypto';
import { chargesOf } from '../../../services/selling/billing/charge-states';
import { type DatedFact, type PaymentState, reducePayments } from '../../../services/selling/paid-plans/payment-state';
import { type GivenFact } from '../../../services/selling/billing/payment-facts';
import { type CheckoutWish, type DiscountWish, type PaymentPort } from '../../../services/selling/billing/payment-port';
import { describeError } from '../../../services/kit/log';
import { propertyRuns } from '../../support/fast-check';
import { CUSTOMER, razorpay, stripe, USE } from '../support/documented-payments';
import { payHonestly } from '../support/honest-payer';
import { startRazorpayStage, startStripeStage } from '../support/payment-stages';
import { useOpened } from '../../support/opened';

const wishFor = (members: Partial<CheckoutWish> = {}): CheckoutWish => ({
  id: randomUUID(),
  account: undefined,
  customerId: CUSTOMER,
  email: 'asha@example.com',
  product: 'api-ip',
  title: 'IP lookup',
  plan: 'Star',
  price: 49_900,
  currency: 'INR',
  trialDays: 0,
  takesCodes: false,
  returnUrl: 'https://api.example/billing/checkouts/1',
  cancelUrl: 'https://api.example/billing/checkouts/1',
  ...members,
});
const SUN = { title: 'IP lookup', plan: 'Sun', price: 99_900, heldPrice: 49_900 };
const MOON = { ...SUN, plan: 'Moon', price: 19_900 };
const DIFFERENCE = 50_000;
const PAID = { plan: 'Star', price: 49_900, currency: 'INR' };

async function all(facts: AsyncIterable<GivenFact>): Promise<GivenFact[]> {
  const found: GivenFact[] = [];
  for await (const fact of facts) found.push(fact);
  return found;
}

describe.each([
  ['stripe', startStripeStage, stripe],
  ['razorpay', startRazorpayStage, razorpay],
] as const)('payments by %s', (name, start, documented) => {
  const stage = useOpened(start);
  let port: PaymentPort;
  beforeAll(() => {
    ({ port } = stage);
  });

  const hear = async (bodies: readonly string[] = stage.events()): Promise<GivenFact[]> =>
    (await Promise.all(bodies.map((body) => port.readEvent(Buffer.from(body), stage.sign(body), Date.now())))).flatMap(
      ({ facts }) => facts,
    );
  const paid = async (members: Partial<CheckoutWish> = {}): Promise<string> =>
    stage.pay((await port.openCheckout(wishFor(members))).session);

  it('asks for a page to pay on as documented, and a wish that is sent again leads to the same page', async () => {
    const wish = wishFor();
    stage.asked();
    const page = await port.openCheckout(wish);
    expect(stage.asked()).toEqual(documented.opening(wish));
    expect(await port.openCheckout(wish)).toEqual(page);
    expect(stage.asked()).toEqual(documented.again(wish));
    expect(page.url).toMatch(/^https?:\/\//);
  });

  it('tells of a checkout that it is open, paid or closed, and a closed one is nobody’s subscription', async () => {
    const [first, second] = [await port.openCheckout(wishFor()), await port.openCheckout(wishFor())];
    expect(await port.settleCheckout(first.session, 'look')).toEqual({ state: 'open', facts: [] });
    expect(await port.settleCheckout(first.session, 'close')).toEqual({ state: 'closed', facts: [] });
    expect(await hear()).toEqual([]);
    const subscription = stage.pay(second.session);
    const { state, facts } = await port.settleCheckout(second.session, 'close');
    expect([state, reducePayments(facts)]).toMatchObject(['paid', { status: 'active', ...PAID }]);
    expect(facts[0]).toMatchObject({ subscription, owner: { customerId: CUSTOMER, product: 'api-ip' } });
  });

  it('tells the checkout that its event ends, which the provider is then asked about', async () => {
    const wish = wishFor();
    stage.events();
    stage.pay((await port.openCheckout(wish)).session);
    const news = await Promise.all(stage.events().map((body) => port.readEvent(Buffer.from(body), stage.sign(body), Date.now())));
    expect(news.map(({ checkout }) => checkout)).toContain(wish.id);
  });

  it('begins a trial without a charge', async () => {
    stage.asked();
    stage.events();
    const id = await paid({ trialDays: 14, takesCodes: documented.hasPortal });
    expect(stage.asked().at(-1)?.fields).toMatchObject(documented.trial);
    const state = reducePayments(await all(port.listFacts(id)));
    expect(state).toMatchObject({ status: 'trial', ...PAID });
    expect((state?.periodEnd ?? 0) - Date.now() / 1_000).toBeGreaterThan(13 * 86_400);
    expect(reducePayments((await hear()).filter(({ subscription }) => subscription === id))?.status).toBe('trial');
  });

  /** As the policy has the provider change to a dearer plan. */
  const dearer = (id: string = randomUUID()) => {
    const when = port.chargesAtOnce ? ({ begins: 'now', charge: DIFFERENCE } as const) : ({ begins: 'next_period', charge: 0 } as const);
    return { kind: 'switch', ...SUN, id, ...when } as const;
  };

  type Act = 'renew' | 'fail' | 'recover' | 'cancel' | 'end' | 'dearer' | 'cheaper' | 'stay';
  const at = () => Math.floor(Date.now() / 1_000);
  const ACTS: Readonly<Record<Act, (id: string) => void | Promise<readonly GivenFact[]>>> = {
    renew: (id) => stage.renew(id, true),
    fail: (id) => stage.renew(id, false),
    recover: (id) => stage.recover(id),
    end: (id) => stage.end(id),
    cancel: (id) => port.changeSubscription(id, { kind: 'cancel' }),
    dearer: (id) => port.changeSubscription(id, dearer()),
    cheaper: (id) => port.changeSubscription(id, { kind: 'switch', ...MOON, id: randomUUID(), begins: 'next_period', charge: 0 }),
    stay: (id) => port.changeSubscription(id, { kind: 'stay' }),
  };
  const ENDS: readonly [readonly Act[], Partial<PaymentState>][] = [
    [[], { status: 'active', ...PAID, cancelsAt: null }],
    [['renew', 'renew'], { status: 'active', ...PAID }],
    [['fail'], { status: 'failing', ...PAID, failingSince: expect.any(Number) as number }],
    [['fail', 'recover'], { status: 'active', failingSince: null }],
    [['cancel'], { status: 'active', ...PAID, cancelsAt: expect.any(Number) as number }],
    [['cancel', 'renew'], { status: 'ended' }],
    [['renew', 'end'], { status: 'ended' }],
    [['dearer', 'renew'], { status: 'active', plan: 'Sun', price: 99_900, currency: 'INR', next: null }],
    [['cheaper'], { status: 'active', ...PAID, next: { plan: 'Moon', price: 19_900 } }],
    [['cheaper', 'stay', 'renew'], { status: 'active', ...PAID, next: null }],
    [['cheaper', 'renew'], { status: 'active', plan: 'Moon', price: 19_900, currency: 'INR', next: null }],
    [['cheaper', 'renew', 'renew'], { status: 'active', plan: 'Moon', price: 19_900, next: null }],
    [['cheaper', 'cancel', 'renew'], { status: 'ended' }],
    [['cheaper', 'fail'], { status: 'failing', plan: 'Moon', price: 19_900, next: null }],
  ];
  it.each(ENDS)('comes to the same after %j, by events in any order, twice, and by asking', async (acts, end) => {
    stage.events();
    const id = await paid();
    const answers: DatedFact[] = [];
    for (const act of acts) answers.push(...((await ACTS[act](id)) ?? []));
    const told = (await hear()).filter(({ subscription }) => subscription === id);
    const state = reducePayments([...answers, ...told.toReversed(), ...told]);
    expect(state).toMatchObject(end);
    const now = await all(port.listFacts(id));
    expect(reducePayments([...answers, ...told, ...now])).toEqual(state);
    // What is asked alone knows all but since when a payment fails, and, of some providers, when a cancelled one ends.
    const { failingSince: _since, cancelsAt: _cancels, ...known } = state ?? ({} as PaymentState);
    if (known.status !== 'ended') expect(reducePayments(now)).toMatchObject(known);
  });

  it('lists every subscription of ours, over pages, and none that nobody paid for or that has no sign of ours', async () => {
    const ids = await Promise.all(Array.from({ length: 101 }, () => paid()));
    await port.openCheckout(wishFor());
    const facts = await all(port.listFacts({ since: at() }));
    const listed = new Set(facts.flatMap(({ subscription, fact }) => (fact.kind === 'subscription' ? [subscription] : [])));
    expect(ids.filter((id) => !listed.has(id))).toEqual([]);
    stage.events();
    stage.end(await paid());
    const foreign = stage.events().map((body) => body.replaceAll('tollgate_customer', 'other_customer'));
    expect((await hear(foreign)).filter(({ fact }) => fact.kind === 'subscription')).toEqual([]);
  });

  it('takes an event by its very bytes and the right secret only, and the same event is the same fact', async () => {
    stage.events();
    await paid();
    const [body = ''] = stage.events();
    const read = (text: string, headers: Record<string, string>) => port.readEvent(Buffer.from(text), headers, Date.now());
    for (const [text, headers] of [
      [body, {}],
      [body, stage.sign(body, { secret: 'whsec_of_another' })],
      [`${body} `, stage.sign(body)],
      [body, Object.fromEntries(Object.keys(stage.sign(body)).map((header) => [header, 'nonsense']))],
    ] as const) {
      await expect(read(text, headers)).rejects.toMatchObject({ name: 'EventRefused' });
    }
    const again = { ...stage.sign(body), 'x-razorpay-event-id': 'evt_of_another' };
    expect(await read(body, again)).toEqual(await read(body, stage.sign(body)));
    const old = read(body, stage.sign(body, { at: Date.now() / 1_000 - 301 }));
    await (name === 'stripe' ? expect(old).rejects.toMatchObject({ name: 'EventRefused' }) : expect(old).resolves.toBeDefined());
  });

  it('finds by asking what was charged and given back, in whole units, as its events told it, and asks as documented', async () => {
    stage.events();
    const since = at() - 60;
    const id = await paid();
    const told = await hear();
    for (const act of [() => stage.renew(id, false), () => stage.recover(id), () => stage.refund(id)]) {
      act();
      told.push(...(await hear()));
    }
    expect(told.map(({ fact }) => fact)).toContainEqual(expect.objectContaining({ kind: 'failed', amount: 49_900, currency: 'INR' }));
    stage.asked();
    const found = (await all(port.listFacts({ since }))).filter(({ subscription }) => subscription === id);
    expect(stage.asked()).toEqual(expect.arrayContaining(documented.charges(since)));
    const charges = (facts: readonly GivenFact[]) =>
      chargesOf(facts)
        .map(({ invoice, amount, currency, refunded, paidAt }) => ({ invoice, amount, currency, refunded, isPaid: paidAt !== null }))
        .toSorted((a, b) => a.invoice.localeCompare(b.invoice));
    expect(charges(found)).toEqual(charges(told));
    expect(
      charges(found)
        .map(({ isPaid, amount, currency, refunded }) => [isPaid, amount, currency, refunded])
        .toSorted(),
    ).toEqual([
      [true, 49_900, 'INR', 0],
      [true, 49_900, 'INR', 49_900],
    ]);
    const again = (await all(port.listFacts({ since }))).filter(
      ({ subscription, fact }) => subscription === id && fact.kind !== 'subscription',
    );
    expect(again.filter((fact) => !found.some((each) => each.id === fact.id))).toEqual([]);
  });

  it('charges once more what is owed as documented, tries once in a minute, or leaves that to the provider’s own pages', async () => {
    const { retrying } = documented;
    expect(port.chargeAgain !== undefined).toBe(retrying !== undefined);
    if (!port.chargeAgain || !retrying) return;
    stage.events();
    const id = await paid();
    stage.renew(id, false);
    const failed = (await hear()).find(({ subscription, fact }) => subscription === id && fact.kind === 'failed')?.fact;
    const invoice = failed?.kind === 'failed' ? failed.invoice : '';
    const nowMs = 120_000;
    stage.decline();
    for (let press = 0; press < 2; press++) {
      await expect(port.chargeAgain(invoice, nowMs)).rejects.toMatchObject({ name: 'PaymentFailed' });
    }
    stage.asked();
    const facts = await port.chargeAgain(invoice, nowMs + 60_000);
    expect(stage.asked()).toEqual(retrying(invoice, 3));
    expect(facts).toMatchObject([{ subscription: id, fact: { kind: 'paid', invoice, amount: 49_900, currency: 'INR' } }]);
    expect(await port.chargeAgain(invoice, nowMs + 120_000)).toEqual(facts);
    expect(reducePayments(await all(port.listFacts(id)))).toMatchObject({ status: 'active' });
  });

  it('makes a customer anew where the one that it knew was deleted there, once for the same wish', async () => {
    const { account } = await port.openCheckout(wishFor());
    expect(account !== undefined).toBe(documented.hasPortal);
    if (account === undefined) return;
    stage.remove(account);
    const wish = wishFor({ account });
    const page = await port.openCheckout(wish);
    expect(page.account).not.toBe(account);
    expect(await port.openCheckout(wish)).toEqual(page);
    expect(await port.openCheckout({ ...wish, account: page.account })).toEqual(page);
    stage.pay(page.session);
    expect((await port.settleCheckout(page.session, 'look')).state).toBe('paid');
  });

  it('says what another plan costs before, changes nothing where that is not paid, and asks as documented', async () => {
    const id = await paid();
    const first = dearer();
    expect(await port.previewChange(id, first)).toEqual({ amount: first.charge, currency: 'INR' });
    stage.decline();
    await expect(port.changeSubscription(id, first)).rejects.toMatchObject({ name: 'PaymentFailed' });
    expect(reducePayments(await all(port.listFacts(id)))).toMatchObject({ ...PAID, next: null });
    stage.asked();
    const second = dearer();
    const facts = await port.changeSubscription(id, second);
    const plans = /\/v1\/plans$/;
    const known = documented.switching(id, second.id).filter((each) => !plans.test((each as { request: string }).request));
    expect(stage.asked().filter(({ request }) => !plans.test(request))).toEqual(known);
    const state = reducePayments(facts);
    expect(port.chargesAtOnce ? state : state?.next).toMatchObject({ plan: 'Sun', price: 99_900 });
  });

  it('changes nothing from another price than the one that the charge was reckoned from', async () => {
    const id = await paid();
    await expect(port.changeSubscription(id, { ...dearer(), heldPrice: 19_900 })).rejects.toMatchObject({ name: 'ChangeRefused' });
    expect(reducePayments(await all(port.listFacts(id)))).toMatchObject({ ...PAID, next: null });
  });

  it('tells how a subscription is now, though the provider answers a request that is sent again as it did then', async () => {
    const id = await paid();
    const change = dearer();
    await port.changeSubscription(id, change);
    await port.changeSubscription(id, { kind: 'cancel' });
    const answer = await port.changeSubscription(id, { ...change, heldPrice: port.chargesAtOnce ? 99_900 : 49_900 });
    expect(reducePayments(answer)).toMatchObject({ ...reducePayments(await all(port.listFacts(id))) });
  });

  it('cancels to the end of the period as documented, and takes that back only where the provider does', async () => {
    const id = await paid();
    stage.asked();
    await port.changeSubscription(id, { kind: 'cancel' });
    expect(stage.asked()).toEqual(documented.cancelling(id));
    const keep = port.changeSubscription(id, { kind: 'keep' });
    if (documented.isCancelFinal) await expect(keep).rejects.toMatchObject({ name: 'ChangeRefused' });
    else expect(reducePayments(await keep)).toMatchObject({ status: 'active', cancelsAt: null });
    const ended = await port.changeSubscription(id, { kind: 'end' });
    expect(reducePayments(ended)?.status).toBe('ended');
    const { isCancelFinal, leadsBack } = port;
    const { hasPortal } = documented;
    expect([isCancelFinal, leadsBack, port.openPortal !== undefined]).toEqual([documented.isCancelFinal, hasPortal, hasPortal]);
  });

  it('gives a payment back whole or in part, once however often it is sent, never more than was paid, and says what went back in all', async () => {
    stage.events();
    const id = await paid();
    const invoice = (await hear()).flatMap(({ fact }) => (fact.kind === 'paid' ? [fact.invoice] : []))[0] ?? '';
    // Razorpay's events name it.
    if (port.findPayment) expect(await port.findPayment(invoice)).toMatch(/^pi_\w+$/);
    const first = { id: randomUUID(), amount: 10_000, currency: 'INR', isAgain: false };
    const told = { subscription: id, fact: { kind: 'refunded', invoice, amount: 10_000, currency: 'INR' } };
    expect(await port.refund(invoice, first)).toMatchObject([told]);
    expect((await hear()).filter(({ fact }) => fact.kind === 'refunded')).toMatchObject([told]);
    for (const isAgain of [false, true]) expect(await port.refund(invoice, { ...first, isAgain })).toMatchObject([told]);
    await expect(port.refund(invoice, { ...first, id: randomUUID(), amount: 39_901 })).rejects.toMatchObject({ name: 'ChangeRefused' });
    const rest = await port.refund(invoice, { ...first, id: randomUUID(), amount: 39_900 });
    expect(rest).toMatchObject([{ fact: { kind: 'refunded', amount: 49_900 } }]);
    await expect(port.refund(invoice, { ...first, id: randomUUID(), amount: 1 })).rejects.toMatchObject({ name: 'ChangeRefused' });
    await expect(port.refund('in_of_nobody', first)).rejects.toMatchObject({ name: 'ChangeRefused' });
    expect(chargesOf(await all(port.listFacts({ since: at() - 60 }))).find((each) => each.invoice === invoice)?.refunded).toBe(49_900);
    expect(reducePayments(await all(port.listFacts(id)))).toMatchObject({ status: 'active' });
  });

  /** What the next renewal charges; undefined: nothing. */
  const renewed = async (id: string): Promise<number | undefined> => {
    stage.events();
    stage.renew(id, true);
    return (await hear()).flatMap(({ subscription, fact }) => (subscription === id && fact.kind === 'paid' ? [fact.amount] : []))[0];
  };

  it('takes a share or an amount off the charges that were agreed, not off use above the limits, or says that it cannot', async () => {
    const id = await paid();
    const wish: DiscountWish = { id: randomUUID(), percent: 20, amount: null, currency: 'INR', months: 2, name: 'a good customer' };
    const give = (discount: DiscountWish | null) => port.changeSubscription(id, { kind: 'discount', discount });
    if (!port.takesDiscounts) {
      await expect(give(wish)).rejects.toMatchObject({ name: 'ChangeRefused' });
      return;
    }
    const { periodEnd } = reducePayments(await all(port.listFacts(id))) ?? { periodEnd: 0 };
    const given = reducePayments(await give(wish))?.discount;
    expect(given).toEqual({ percent: 20, amount: null, until: expect.any(Number) as number });
    expect(((given?.until ?? 0) - periodEnd) / 86_400).toBeCloseTo(30, -1);
    const use = { id: randomUUID(), account: undefined, description: USE, amount: 1_234, currency: 'INR', isAgain: false };
    await port.chargeUse(id, use);
    expect([await renewed(id), await renewed(id), await renewed(id)]).toEqual([39_920 + 1_234, 39_920, 49_900]);
    expect(reducePayments(await all(port.listFacts(id)))?.discount).toBeNull();
    const off = { ...wish, percent: null, amount: 10_000, months: null };
    expect(reducePayments(await give({ ...off, id: randomUUID() }))?.discount).toEqual({ percent: null, amount: 10_000, until: null });
    expect([await renewed(id), await renewed(id)]).toEqual([39_900, 39_900]);
    expect(reducePayments(await give(null))?.discount).toBeNull();
    expect(await renewed(id)).toBe(49_900);
  });

  it('charges nothing while it is paused, and what begins meanwhile is not paid', async () => {
    const id = await paid();
    const before = reducePayments(await all(port.listFacts(id)));
    const paused = await port.changeSubscription(id, { kind: 'pause' });
    expect(reducePayments(paused)).toMatchObject({ status: 'active', isPaused: true });
    expect(await port.changeSubscription(id, { kind: 'pause' })).toMatchObject([{ fact: { isPaused: true } }]);
    expect(await renewed(id)).toBeUndefined();
    const now = await all(port.listFacts(id));
    expect(reducePayments([...paused, ...now])).toMatchObject({ isPaused: true, periodEnd: before?.periodEnd });
    const resumed = await port.changeSubscription(id, { kind: 'resume' });
    expect(reducePayments([...paused, ...now, ...resumed])).toMatchObject({ status: 'active', isPaused: false });
    expect(await renewed(id)).toBe(49_900);
  });

  it('puts use above the limits on the next invoice, once however often it is sent, and on none of a subscription that has ended', async () => {
    const id = await paid();
    const use = { id: randomUUID(), account: undefined, description: USE, amount: 1_234, currency: 'INR', isAgain: false };
    stage.asked();
    const charge = await port.chargeUse(id, use);
    const asked = stage.asked();
    expect(asked).toEqual(documented.charging(id, use.id));
    const account = (asked.at(-1)?.fields as { customer?: string }).customer;
    expect(await port.chargeUse(id, { ...use, account, isAgain: true })).toBe(charge);
    expect(stage.asked()).toEqual(documented.chargingAgain);
    stage.events();
    for (const amount of [49_900 + 1_234, 49_900]) {
      stage.renew(id, true);
      expect((await hear()).map(({ fact }) => fact)).toContainEqual(expect.objectContaining({ kind: 'paid', amount }));
    }
    stage.end(id);
    await expect(port.chargeUse(id, { ...use, id: randomUUID(), account })).rejects.toMatchObject({ name: 'ProviderRefused' });
  });

  it('tells a provider that is away from one that refuses', async () => {
    const refused: unknown = await stage.unknown.openCheckout(wishFor()).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: 'ProviderRefused' });
    // As it would be logged, with its causes.
    expect(JSON.stringify(describeError(refused))).not.toMatch(/of[ _]another|rzp_test|Basic [A-Za-z0-9]/);
    const gone = await start();
    await gone.close();
    await expect(gone.port.openCheckout(wishFor())).rejects.toMatchObject({ name: 'ProviderAway' });
  });

  it('lets any history of plans, use, discounts, pauses and cancellations cost what honest use costs, at most the dearest plan held', () =>
    payHonestly(name, propertyRuns(200)));
});
