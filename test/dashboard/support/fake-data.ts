import { type Answer } from '../../../services/dashboard/contract/endpoints';
import { randomUUID } from 'node:crypto';
import { ANSWER_TIME_BOUNDS_MS } from '../../../plugins/core/selling/answer-times';
import { PRODUCTS } from '../../support/catalogue';
import { type Alert, type Delivery, type Webhook } from '../../../services/dashboard/contract/alerts';
import { type AuditLog } from '../../../services/dashboard/contract/audit';
import { type Key } from '../../../services/dashboard/contract/keys';
import { type PlanRequest, type Product, type Subscription } from '../../../services/dashboard/contract/plans';
import { type StatementMonths, type StatementView } from '../../../services/dashboard/contract/statements';
import { type OwnMembership, type Team } from '../../../services/dashboard/contract/team';
import { type Token } from '../../../services/dashboard/contract/tokens';
import { type TryAnswer } from '../../../services/dashboard/contract/try';
import { type Usage } from '../../../services/dashboard/contract/usage';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** ISO moment this long ago; negative for the future. */
export const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
/** Day in the quota zone this many days ago. */
export const dayAgo = (days: number): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Kolkata' }).format(new Date(Date.now() - days * DAY));

/** A key with everything about it usual. */
export function makeKey(over: Partial<Key> = {}): Key {
  return {
    id: randomUUID(),
    name: 'Checkout server',
    maskedKey: 'tg_live…1a2B',
    mode: 'live',
    state: 'active',
    expired: false,
    expiresAt: null,
    products: ['api-ip', 'api-pincode'],
    tags: [],
    rules: ['203.0.113.0/24', '2001:db8::/32', '*.example.com'],
    createdAt: ago(40 * DAY),
    lastUsedAt: ago(2 * MINUTE),
    rotatedFrom: null,
    replaces: null,
    replacedBy: null,
    version: randomUUID(),
    ...over,
  };
}

/** Keys in every state, with names that are not easy. */
export function usualKeys(): Key[] {
  const newer = { id: randomUUID(), maskedKey: 'tg_live…P0aa' };
  const rotated = makeKey({
    name: 'Warehouse',
    state: 'revoked',
    lastUsedAt: ago(9 * DAY),
    maskedKey: 'tg_live…77Qx',
    replacedBy: { ...newer, works: true, expiresAt: null },
  });
  return [
    makeKey({ tags: ['production', 'shop'] }),
    makeKey({
      ...newer,
      name: 'Warehouse',
      rotatedFrom: rotated.id,
      replaces: { id: rotated.id, maskedKey: rotated.maskedKey, works: false, expiresAt: null },
      products: ['api-gst', 'api-ip', 'api-pincode', 'api-seo'],
    }),
    rotated,
    makeKey({ name: 'Ends soon', tags: ['campaign'], expiresAt: ago(-5 * DAY), maskedKey: 'tg_live…9zZ0' }),
    makeKey({ name: 'Last year’s campaign', tags: ['campaign'], expiresAt: ago(12 * DAY), expired: true, maskedKey: 'tg_live…a9Kd' }),
    makeKey({ name: '<b>bold</b> & “quoted” 🚚📦', mode: 'test', maskedKey: 'tg_test…e4Re', rules: [], lastUsedAt: null }),
    makeKey({ name: null, state: 'inactive', mode: 'test', maskedKey: 'tg_test…00Vb' }),
    makeKey({ name: 'A-name-of-one-hundred-characters-'.padEnd(100, 'x'), mode: 'test', maskedKey: 'tg_test…Lg1o' }),
  ];
}

/** An account with more keys than a page can hold. */
export function manyKeys(count: number): Key[] {
  return Array.from({ length: count }, (_, index) => makeKey({ name: `Customer ${String(index + 1).padStart(5, '0')}`, rules: [] }));
}

function subscriptionOf(product: string, over: Partial<Subscription>): Subscription {
  return {
    id: randomUUID(),
    product,
    plan: null,
    state: 'active',
    daily: { used: 0, limit: 1_000, resetsAt: ago(-7 * HOUR), exhaustedAt: null },
    monthly: { used: 0, limit: 30_000, resetsAt: ago(-9 * DAY), exhaustedAt: null },
    refunds: { used: 0, limit: 100 },
    test: {
      daily: { used: 12, limit: 1_000, resetsAt: ago(-7 * HOUR), exhaustedAt: null },
      monthly: { used: 260, limit: 30_000, resetsAt: ago(-9 * DAY), exhaustedAt: null },
      refunds: { used: 0, limit: 100 },
    },
    dailyCap: null,
    hasOwnLimits: false,
    ownLimits: { daily: null, monthly: null },
    createdAt: ago(40 * DAY),
    version: randomUUID(),
    ...over,
  };
}

/** Subscriptions near, at and far from their limits. */
export function usualSubscriptions(): Subscription[] {
  const monthly = { used: 41_210, limit: 3_000_000, resetsAt: ago(-9 * DAY), exhaustedAt: null };
  return [
    subscriptionOf('api-ip', {
      plan: 'Star',
      daily: { used: 61_402, limit: 100_000, resetsAt: ago(-7 * HOUR), exhaustedAt: ago(-4 * HOUR) },
      monthly: { used: 1_204_331, limit: 3_000_000, resetsAt: ago(-9 * DAY), exhaustedAt: ago(-6 * DAY) },
    }),
    subscriptionOf('api-pincode', {
      daily: { used: 1_000, limit: 1_000, resetsAt: ago(-7 * HOUR), exhaustedAt: null },
      monthly: { ...monthly, used: 12_040, limit: 30_000 },
    }),
    subscriptionOf('api-gst', {
      plan: 'Star',
      daily: { used: 84_010, limit: 100_000, resetsAt: ago(-7 * HOUR), exhaustedAt: null },
      monthly,
    }),
    subscriptionOf('api-seo', { state: 'paused', hasOwnLimits: true, ownLimits: { daily: 1_000, monthly: null } }),
  ];
}

/** Products whose plan is given on request. */
const GIVEN = ['api-seo', 'api-aadhaar', 'api-glead'];

/** What was asked for a plan: one that waits, and one that was declined. */
export function usualPlanRequests(): PlanRequest[] {
  const make = (over: Partial<PlanRequest>): PlanRequest => ({
    id: randomUUID(),
    product: 'api-seo',
    plan: 'Star',
    daily: 10_000,
    monthly: 300_000,
    price: '999.00',
    currency: 'INR',
    state: 'open',
    reason: '',
    askedAt: ago(5 * HOUR),
    answeredAt: null,
    ...over,
  });
  const reason = 'Please send us your company’s registration first.';
  return [make({}), make({ product: 'api-aadhaar', daily: 4_000, monthly: 120_000, state: 'declined', reason, answeredAt: ago(DAY) })];
}

/** One product waits for its source, and of one nobody has heard. */
function liveSourceOf({ id, prefix }: (typeof PRODUCTS)[number]): Product['liveSource'] {
  if (prefix === null || id === 'api-app') return null;
  return { isThere: id !== 'api-gst', since: ago(3 * HOUR) };
}

/** The catalogue with these subscriptions. */
export function productsWith(subscriptions: readonly Subscription[], requests: readonly PlanRequest[] = []): Product[] {
  return PRODUCTS.map((product) => {
    const { id, title, description, routes, base, subscribable, plans } = product;
    return {
      id,
      title,
      description,
      routes: routes.map((route) => ({ ...route })),
      base,
      subscribable,
      liveSource: liveSourceOf(product),
      plans: plans.map((plan) => ({ ...plan, ...(GIVEN.includes(id) && { approval: 'request' as const }) })),
      subscription: subscriptions.find((each) => each.product === id) ?? null,
      request: requests.find((each) => each.product === id) ?? null,
    };
  });
}

/** Thirty days of use that rise and fall as weeks do. */
export function usualUsage(subscriptions: readonly Subscription[]): Usage {
  const days = Array.from({ length: 30 }, (_, index) => 29 - index).flatMap((back) =>
    ['api-ip', 'api-pincode', 'api-gst'].map((product, order) => {
      const charged = Math.round((1 + Math.sin(back / 1.1 + order)) * 24_000 * (1 - order * 0.3)) + 900;
      const refunded = back % 6 === order ? 37 : 0;
      return { day: dayAgo(back), product, mode: 'live' as const, charged, refunded, used: charged - refunded };
    }),
  );
  const tried = { product: 'api-ip', mode: 'test' as const, charged: 2_400, refunded: 0, used: 2_400 };
  const refusals = Array.from({ length: 12 }, (_, index) => ({
    day: dayAgo(index * 2),
    product: index % 2 ? 'api-ip' : 'api-pincode',
    code: ['caller_not_whitelisted', 'quota_daily_exceeded', 'key_expired'][index % 3] ?? 'key_expired',
    count: 40 + index * 17,
  }));
  return {
    timeZone: 'Asia/Kolkata',
    today: dayAgo(0),
    days: [...days, { day: dayAgo(1), ...tried }],
    refusals,
    answers: days.map(({ day, product, charged }) => ({ day, product, admitted: charged, answers: usualAnswers(charged, product) })),
    hours: [],
    answerTimesMs: [...ANSWER_TIME_BOUNDS_MS],
    subscriptions: [...subscriptions],
  };
}

/** Most of them quick; null for a product whose answers nobody measures. */
export function usualAnswers(admitted: number, product: string): Usage['hours'][number]['answers'] {
  if (product === 'api-pincode') return null;
  const [rejected, failed, abandoned] = [Math.round(admitted / 20), Math.round(admitted / 60), Math.round(admitted / 200)];
  const answered = admitted - abandoned;
  const took = [0, 0, Math.floor(answered / 2), Math.floor(answered / 3), 0, 0, 0, 0, 0, 0, 0, 0];
  took[6] = answered - took.reduce((sum, count) => sum + count, 0);
  return { succeeded: answered - rejected - failed, rejected, failed, abandoned, took };
}

/** Of a customer whose night is quiet: nothing for six hours, and one hour in which nothing could be checked. */
export function usualHours(nowMs: number): Usage['hours'] {
  const hourMs = 3_600_000;
  // Hours of Kolkata begin half an hour after those of UTC.
  const last = Math.floor((nowMs - hourMs / 2) / hourMs) * hourMs + hourMs / 2;
  const starts = Array.from({ length: 48 }, (_, index) => new Date(last - (47 - index) * hourMs).toISOString());
  return starts.flatMap((startsAt, index) =>
    ['api-ip', 'api-pincode']
      .filter(() => index % 24 > 5)
      .map((product, order) => ({ product, order, admitted: Math.round((2 + Math.sin(index / 3 + order)) * 700) - order * 300 }))
      .map(({ product, order, admitted }) => ({
        startsAt,
        product,
        mode: 'live' as const,
        admitted,
        answers: usualAnswers(admitted, product),
        refused: index % 7 === order ? 90 : 0,
        unavailable: index === 30 ? 40 : 0,
      })),
  );
}

/** This month and two that are closed. */
export function usualMonths(): StatementMonths['months'] {
  const [year = 0, month = 1] = dayAgo(0).split('-').map(Number);
  return [0, 1, 2].map((back) => ({ month: new Date(Date.UTC(year, month - 1 - back, 1)).toISOString().slice(0, 7), isClosed: back > 0 }));
}

/** A month with a change of plan in it. */
export function usualStatement(month: string, isClosed: boolean): StatementView {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const daysInMonth = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const star = { product: 'api-ip', plan: 'Star', price: '499.00', currency: 'INR', daily: 100_000, monthly: 3_000_000 };
  const free = { plan: null, price: '0.00', currency: null, daily: 1_000, monthly: 30_000, amount: '0.00' };
  const subscriptionId = randomUUID();
  return {
    customer: 'asha@example.com',
    month,
    daysInMonth,
    timeZone: 'Asia/Kolkata',
    fromDay: `${month}-01`,
    closedAt: isClosed ? ago(DAY) : null,
    lines: [
      { ...free, subscriptionId, product: 'api-ip', days: 14, charged: 13_204, refunded: 12, used: 13_192, test: 40 },
      { ...star, subscriptionId, days: daysInMonth - 14, charged: 1_204_331, refunded: 0, used: 1_204_331, test: 0, amount: '266.13' },
      {
        ...free,
        subscriptionId: randomUUID(),
        product: 'api-pincode',
        days: daysInMonth,
        charged: 12_040,
        refunded: 0,
        used: 12_040,
        test: 0,
      },
    ],
    totals: [{ currency: 'INR', amount: '266.13' }],
  };
}

export function usualRefusals(keys: readonly Key[]): Answer<'GET /refusals'>['refusals'] {
  const codes = ['caller_not_whitelisted', 'quota_daily_exceeded', 'key_expired', 'product_not_authorised'];
  return Array.from({ length: 9 }, (_, index) => ({
    requestId: randomUUID().replaceAll('-', ''),
    at: ago((index * index + 1) * MINUTE),
    code: codes[index % codes.length] ?? 'key_expired',
    product: index % 4 === 3 ? null : 'api-ip',
    keyId: keys[0]?.id ?? null,
    maskedKey: keys[0]?.maskedKey ?? null,
    callerAddress: index % 2 ? '2001:db8:4006:812::200e' : '198.51.100.23',
    originHost: index % 3 ? null : 'staging.example.org',
  }));
}

export function usualAlerts(keys: readonly Key[]): Alert[] {
  const make = (over: Partial<Alert>): Alert => ({
    id: randomUUID(),
    at: ago(HOUR),
    kind: 'quota_daily' as const,
    percent: 80,
    product: 'api-gst',
    keyId: null,
    maskedKey: null,
    text: 'api-gst has used 80% of today’s 100,000 requests.',
    readAt: null,
    ...over,
  });
  return [
    make({ percent: 100, product: 'api-pincode', text: 'api-pincode has used all of today’s 1,000 requests.' }),
    make({ at: ago(3 * HOUR) }),
    make({
      kind: 'key_expiry',
      percent: null,
      product: null,
      keyId: keys[3]?.id ?? null,
      maskedKey: 'tg_live…9zZ0',
      text: 'The key “Ends soon” expires in 5 days.',
      at: ago(DAY),
    }),
    make({
      kind: 'quota_monthly',
      percent: 50,
      product: 'api-ip',
      text: 'api-ip has used 50 % of this month’s 3,000,000 requests.',
      at: ago(4 * DAY),
      readAt: ago(3 * DAY),
    }),
  ];
}

export function usualWebhooks(): Webhook[] {
  const make = (over: Partial<Webhook>): Webhook => ({
    id: randomUUID(),
    url: 'https://hooks.example.com/tollgate',
    state: 'active' as const,
    createdAt: ago(20 * DAY),
    lastOutcome: 'delivered' as const,
    version: randomUUID(),
    ...over,
  });
  return [make({}), make({ url: `https://alerts.example.net/${'a-long-path/'.repeat(9)}in`, state: 'paused', lastOutcome: 'failed' })];
}

export function usualDeliveries(): Delivery[] {
  const make = (over: Partial<Delivery>): Delivery => ({
    id: randomUUID(),
    alertId: randomUUID(),
    event: 'quota.daily',
    state: 'delivered' as const,
    attempts: 1,
    lastStatus: 200,
    lastError: null,
    createdAt: ago(HOUR),
    nextAttemptAt: null,
    endedAt: ago(HOUR - 400),
    ...over,
  });
  return [
    make({ event: 'test', alertId: null }),
    make({ state: 'waiting', attempts: 2, lastStatus: 503, nextAttemptAt: ago(-4 * MINUTE), endedAt: null }),
    make({ state: 'failed', attempts: 8, lastStatus: null, lastError: 'the connection was refused', event: 'key.expiry' }),
  ];
}

export function usualAudit(keys: readonly Key[]): AuditLog['entries'] {
  const entry = (action: string, over: Partial<AuditLog['entries'][number]>): AuditLog['entries'][number] => ({
    at: ago(HOUR),
    actor: 'asha@example.com',
    from: '198.51.100.23',
    action,
    subject: { kind: 'credential', id: keys[0]?.id ?? randomUUID(), label: 'tg_live…1a2B' },
    details: {},
    ...over,
  });
  return [
    entry('key.rules', { details: { added: ['203.0.113.0/24', '*.example.com'], removed: [] } }),
    entry('account.sign_in', { at: ago(2 * HOUR), subject: { kind: 'customer', id: randomUUID(), label: null } }),
    entry('key.revoke', { at: ago(5 * HOUR), from: '2001:db8:4006:812::200e' }),
    entry('subscription.change', {
      at: ago(DAY),
      subject: { kind: 'subscription', id: randomUUID(), label: 'api-ip' },
      details: { plan: 'Star', from: null },
    }),
    entry('key.create', {
      at: ago(2 * DAY),
      actor: 'operator',
      from: null,
      details: { mode: 'live', products: ['api-ip', 'api-pincode'], expires_at: null },
    }),
  ];
}

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** What comes of trying a call: an answer with everything in it, a session with its captcha, a picture, or a refusal. */
export function triedAnswer(path: string, requestId: string | null): TryAnswer {
  const answered = { outcome: 'answered', status: 200, encoding: 'text', isCut: false, durationMs: 42, requestId } as const;
  const limits = { ratelimit: '"daily";r=998;t=51234, "monthly";r=29998;t=820000' };
  const json = { 'content-type': 'application/json; charset=utf-8', ...limits };
  switch (path) {
    case '/ip':
      return {
        ...answered,
        headers: json,
        body: JSON.stringify({ ip: '8.8.8.8', is_valid: true, version: 4, location: { latitude: 37.4 } }),
      };
    case '/gst/start':
      return { ...answered, headers: json, body: JSON.stringify({ sessionId: 'a-session-of-the-fake', image: PNG }) };
    case '/gdplay/thumbnail':
      return { ...answered, encoding: 'base64', headers: { 'content-type': 'image/png', ...limits }, body: PNG };
    case '/gdplay/stream':
      return { ...answered, encoding: 'base64', isCut: true, headers: { 'content-type': 'video/mp4', ...limits }, body: PNG };
    case '/seo':
      return { outcome: 'failed', reason: 'timeout', durationMs: 60_004 };
    default: {
      const problem = { type: 'about:blank', title: 'Caller not on the whitelist', status: 401, code: 'caller_not_whitelisted' };
      return { ...answered, status: 401, headers: { 'content-type': 'application/problem+json' }, body: JSON.stringify(problem) };
    }
  }
}

export const OWN_ORGANISATION: OwnMembership = {
  customerId: '7d9c6f0e-4f0a-4c8e-9a53-5f4f0a1b2c3d',
  organisation: 'asha@example.com',
  role: 'owner',
};
export const OTHER_ORGANISATION: OwnMembership = {
  customerId: '2b6a0f8e-93c1-4d6e-8f6a-0d4f7b1e5a90',
  organisation: 'platform.engineering@a-rather-long-company-name.example',
  role: 'developer',
};

export function usualTeam(): Team {
  const members = [
    { userId: randomUUID(), email: 'asha@example.com', role: 'owner' as const, since: ago(300 * DAY), isYou: true },
    { userId: randomUUID(), email: 'dev@example.com', role: 'developer' as const, since: ago(40 * DAY), isYou: false },
    {
      userId: randomUUID(),
      email: `finance.${'department.'.repeat(4)}accounts@example.com`,
      role: 'billing' as const,
      since: ago(DAY),
      isYou: false,
    },
  ];
  const invitations = [
    {
      id: randomUUID(),
      email: 'newcomer@example.com',
      role: 'admin' as const,
      invitedBy: 'asha@example.com',
      sentAt: ago(DAY),
      expiresAt: ago(-6 * DAY),
      hasExpired: false,
    },
    {
      id: randomUUID(),
      email: 'forgot@example.com',
      role: 'reader' as const,
      invitedBy: null,
      sentAt: ago(9 * DAY),
      expiresAt: ago(2 * DAY),
      hasExpired: true,
    },
  ];
  return { organisation: OWN_ORGANISATION.organisation, name: null, members, invitations };
}

export function makeToken(extra: Partial<Token> = {}): Token {
  return {
    id: randomUUID(),
    name: 'Deploy script',
    maskedToken: 'tg_admin…k3Xe',
    scopes: ['keys:read', 'keys:write', 'rules:write'],
    state: 'active',
    createdAt: ago(0),
    expiresAt: ago(-90 * DAY),
    lastUsedAt: null,
    madeBy: 'asha@example.com',
    isMakerHere: true,
    ...extra,
  };
}

export function usualTokens(): Token[] {
  return [
    makeToken({ createdAt: ago(20 * DAY), expiresAt: ago(-70 * DAY), lastUsedAt: ago(120_000) }),
    makeToken({ name: 'Billing export '.repeat(6).trim(), maskedToken: 'tg_admin…0Zpq', scopes: ['usage:read'], lastUsedAt: ago(DAY) }),
    makeToken({
      name: 'Old laptop',
      madeBy: 'ravi@example.com',
      isMakerHere: false,
      state: 'revoked',
      createdAt: ago(60 * DAY),
      expiresAt: ago(-30 * DAY),
    }),
    makeToken({ name: 'Trial', state: 'expired', createdAt: ago(9 * DAY), expiresAt: ago(2 * DAY) }),
  ];
}
