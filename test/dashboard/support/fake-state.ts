import { type Answer } from '../../../services/dashboard/contract/endpoints';
import { randomUUID } from 'node:crypto';
import { ANSWER_TIME_BOUNDS_MS } from '../../../plugins/core/selling/answer-times';
import { type PersonView, type Session } from '../../../services/dashboard/contract/account';
import { type AlertSettings } from '../../../services/dashboard/contract/alerts';
import { type Explanation } from '../../../services/dashboard/contract/explain';
import { type Key, type Propagation, type Simulation } from '../../../services/dashboard/contract/keys';
import { type PlanRequest, type Subscription, type Terms } from '../../../services/dashboard/contract/plans';
import { type Provider, type Ways } from '../../../services/dashboard/contract/sign-in';
import { type StatementMonths } from '../../../services/dashboard/contract/statements';
import { type InvitationOffer, type OwnMembership } from '../../../services/dashboard/contract/team';
import { type Token } from '../../../services/dashboard/contract/tokens';
import { permissionsOf } from '../../../plugins/core/selling/member-roles';
import { type TryAnswer, type TryBody } from '../../../services/dashboard/contract/try';
import { type KeyUsage, type Usage } from '../../../services/dashboard/contract/usage';
import { FakeProblem } from './fake-problem';
import { usualRequests } from './fake-requests';
import * as data from './fake-data';

const SECRET = 'tg_test_0Fake4KeyThatNoGatewayKnows7xQ2mZ9';

/** What the fake API knows; tests read and change it. */
export class FakeState {
  isSignedIn = true;
  hasSecondFactor = false;
  /** By whom people may sign in beside their passwords. */
  providers: Provider[] = [
    { id: 'google', name: 'Google' },
    { id: 'github', name: 'GitHub' },
  ];
  ways: Ways = {
    hasPassword: true,
    connected: [{ id: '7d0f2c7e-9f0f-4a52-8a0f-2f6f4f1d9b11', name: 'Google', since: '2026-11-02T08:00:00.000Z' }],
    passkeys: [
      {
        id: 'c1f5a0de-6c1b-4d0f-9a43-3c0a8b1f7e21',
        name: 'Laptop',
        createdAt: '2026-11-03T08:00:00.000Z',
        lastUsedAt: data.ago(7_200_000),
      },
      {
        id: '5e6c43c9-7f0e-4a8c-8d55-0c9a1c6be7b4',
        name: 'Security key in the safe',
        createdAt: '2026-11-03T08:05:00.000Z',
        lastUsedAt: null,
      },
    ],
    offered: [{ id: 'github', name: 'GitHub' }],
  };
  /** Open invitations to the own address. */
  ownInvitations: PersonView['invitations'] = [
    {
      id: '0b8f6f0d-3a39-4f38-9a0f-54d7c7e4a5b0',
      organisation: 'birk@example.com',
      role: 'developer',
      invitedBy: 'birk@example.com',
      expiresAt: data.ago(-6 * 86_400_000),
    },
  ];
  /** Answers 503 to everything. */
  isAway = false;
  /** Before each answer. */
  /** Answers wait for it. */
  isAnswering: Promise<void> = Promise.resolve();
  /** Every request that changes something, as it came. */
  readonly requests: { method: string; path: string; body: Record<string, unknown> }[] = [];
  keys: Key[] = data.usualKeys();
  subscriptions: Subscription[] = data.usualSubscriptions();
  planRequests: PlanRequest[] = data.usualPlanRequests();
  refusals = data.usualRefusals(this.keys);
  alerts = data.usualAlerts(this.keys);
  alertSettings: AlertSettings = {
    mail: { quotaDaily: true, quotaMonthly: true, keyExpiry: false },
    thresholds: [{ subscriptionId: this.subscriptions[0]?.id ?? '', percents: [75, 90, 100] }],
  };
  webhooks = data.usualWebhooks();
  deliveries = data.usualDeliveries();
  tokens = data.usualTokens();
  team = data.usualTeam();
  organisation: OwnMembership = data.OWN_ORGANISATION;
  audit = data.usualAudit(this.keys);
  hasUsage = true;
  /** As in the embedded run. */
  mayBePrivate = false;
  mails = [
    {
      id: 'b',
      at: data.ago(60_000),
      to: 'asha@example.com',
      subject: 'Confirm your email address for Tollgate',
      text: 'To confirm that it was you, open this link and give the password that you chose:\n\nhttp://127.0.0.1:8002/verify?token=not-a-real-one\n\nThe link works for an hour.\n',
    },
  ];
  readonly sessions = [
    {
      id: 'one',
      token: 'first',
      createdAt: data.ago(3_600_000),
      updatedAt: data.ago(60_000),
      expiresAt: data.ago(-data.DAY),
      ipAddress: '198.51.100.23',
      userAgent: 'Mozilla/5.0 (Windows NT 10.0) Gecko/20100101 Firefox/140.0',
    },
    {
      id: 'two',
      token: 'second',
      createdAt: data.ago(9e7),
      updatedAt: data.ago(9e7),
      expiresAt: data.ago(-data.DAY),
      ipAddress: '2001:db8::7',
      userAgent: 'Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile Safari/537.36',
    },
  ];
  private readonly submissions = new Map<string, string>();

  /** An account on its first day. */
  static empty(): FakeState {
    const state = new FakeState();
    Object.assign(state, {
      keys: [],
      subscriptions: [],
      planRequests: [],
      refusals: [],
      alerts: [],
      webhooks: [],
      deliveries: [],
      tokens: [],
      audit: [],
      mails: [],
      hasUsage: false,
    });
    return state;
  }

  session(): Session {
    return {
      email: 'asha@example.com',
      ...this.organisation,
      permissions: [...permissionsOf(this.organisation.role)],
      organisations: [{ ...data.OWN_ORGANISATION, organisation: this.team.organisation }, data.OTHER_ORGANISATION],
      gatewayUrl: 'http://127.0.0.1:8000',
      quotaTimeZone: 'Asia/Kolkata',
      hasOutbox: true,
      hasSecondFactor: this.hasSecondFactor,
    };
  }

  signIn(password: string): void {
    if (password === 'wrong password') throw new FakeProblem(401, 'invalid_email_or_password', { detail: 'Invalid email or password.' });
    this.isSignedIn = true;
  }

  beginSecondFactor(): { totpURI: string; backupCodes: string[] } {
    const totpURI = 'otpauth://totp/Tollgate:asha%40example.com?secret=PAISQKH7MSIU5BPXR3EBGZJ5PYTY2WDK&issuer=Tollgate&digits=6&period=30';
    return { totpURI, backupCodes: ['Fake1-nobod', 'Fake2-ycans', 'Fake3-ignin', 'Fake4-withm', 'Fake5-eever'] };
  }

  checkCode(code: string): void {
    if (code !== '123456') throw new FakeProblem(401, 'invalid_code', { detail: 'Invalid code.' });
    this.isSignedIn = true;
    this.hasSecondFactor = true;
  }

  verify(token: string, password: string): void {
    if (token === 'too-old') throw new FakeProblem(400, 'link_unusable');
    if (password === 'wrong password')
      throw new FakeProblem(401, 'wrong_password', {
        detail:
          'This is not the password was chosen at sign-up. If you did not sign up, do nothing; or set a new password by “Forgot your password?”, which makes the account yours.',
      });
    this.isSignedIn = true;
  }

  keyPage({ search = '', state, mode, product, tag, sort, after = '0', limit = '25', count }: Record<string, string>): Answer<'GET /keys'> {
    const shown = this.keys.filter((key) => `${key.name ?? ''} ${key.maskedKey}`.toLowerCase().includes(search.toLowerCase()));
    const isState = (key: Key): boolean => (state === 'expired' ? key.expired : key.state === state && !key.expired);
    const found = shown.filter(
      (key) =>
        (state === undefined || isState(key)) &&
        (mode ?? key.mode) === key.mode &&
        (product === undefined || key.products.includes(product)) &&
        (tag === undefined || key.tags.includes(tag)),
    );
    if (sort === 'name') found.sort((a, b) => (a.name ?? '\uffff').localeCompare(b.name ?? '\uffff'));
    if (sort === 'expires') found.sort((a, b) => (a.expiresAt ?? '9').localeCompare(b.expiresAt ?? '9'));
    const start = Number(after);
    const end = start + Number(limit);
    const keys = found
      .slice(start, end)
      .map(({ rules: _rules, version: _version, replaces: _replaces, replacedBy: _replacedBy, ...listed }) => listed);
    const total = count === 'true' || found.length <= Number(limit) ? found.length : null;
    return { keys, next: end < found.length ? String(end) : null, total };
  }

  tagList(): Answer<'GET /key-tags'> {
    return { tags: [...new Set(this.keys.flatMap((key) => key.tags))].sort() };
  }

  revokeKeys(ids: readonly string[]): Answer<'POST /keys/revoke'> {
    const revoked = ids.filter((id) => this.key(id).state !== 'revoked');
    for (const id of revoked) this.changeKey(id, { state: 'revoked' });
    return { revoked };
  }

  key(id: string): Key {
    const key = this.keys.find((each) => each.id === id);
    if (!key) throw new FakeProblem(404, 'not_found');
    return key;
  }

  private once(submission: string): void {
    const id = this.submissions.get(submission);
    if (id !== undefined) throw new FakeProblem(409, 'already_done', { id });
  }

  createKey(body: {
    submission: string;
    name?: string | undefined;
    mode: 'live' | 'test';
    products: string[];
    tags?: string[];
    rules: string[];
    expiresAt?: string | undefined;
  }): Answer<'POST /keys'> {
    this.once(body.submission);
    const { name = null, mode, products, tags = [], rules, expiresAt = null } = body;
    const key = data.makeKey({
      name,
      mode,
      products,
      tags,
      rules,
      expiresAt,
      maskedKey: 'tg_test…2mZ9',
      createdAt: data.ago(0),
      lastUsedAt: null,
    });
    this.keys = [key, ...this.keys];
    this.submissions.set(body.submission, key.id);
    return { secret: SECRET, key };
  }

  /** What anybody may do to a key between two requests of a page. */
  changeKey(id: string, { version, ...changes }: Partial<Key> | { [K in keyof Key]?: Key[K] | undefined }): Key {
    const before = this.key(id);
    if (version !== undefined && version !== before.version) throw new FakeProblem(409, 'version_conflict', { current: before });
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const after = { ...before, ...given, version: randomUUID() };
    this.keys = this.keys.map((key) => (key.id === id ? after : key));
    return after;
  }

  rotate(id: string, { version, submission }: { version: string; submission: string }): Answer<'POST /keys'> {
    this.once(submission);
    const old = this.changeKey(id, { version, expiresAt: data.ago(-data.DAY) });
    const created = this.createKey({ submission, name: old.name ?? undefined, mode: old.mode, products: old.products, rules: old.rules });
    const partnerOf = ({ id: partner, maskedKey, expiresAt }: Key) => ({ id: partner, maskedKey, works: true, expiresAt });
    this.changeKey(id, { replacedBy: partnerOf(created.key) });
    return { ...created, key: this.changeKey(created.key.id, { rotatedFrom: id, replaces: partnerOf(old) }) };
  }

  simulate({ address, rules = [] }: { address?: string | undefined; rules?: string[] | undefined }): Simulation {
    const rule = rules.find((each) => each === address || (each.endsWith('.0/24') && (address ?? '').startsWith(each.slice(0, -4))));
    if (rule === undefined && rules.length > 0) return { admitted: false, rule: null, reason: 'No rule admits this caller.' };
    return {
      admitted: true,
      rule: rule ?? null,
      reason: rule === undefined ? 'There are no rules, so any caller is allowed.' : 'The address matches a rule.',
    };
  }

  propagation(): Propagation {
    const changedAt = data.ago(20_000);
    const node = { state: 'confirmed' as const, confirmedAt: new Date(Date.parse(changedAt) + 140).toISOString(), seenAt: data.ago(900) };
    return {
      changedAt,
      nodes: [
        { name: 'Gateway 1', ...node },
        { name: 'Gateway 2', ...node, state: 'pending', confirmedAt: null },
        { name: 'Gateway 3', ...node, state: 'reading' },
      ],
    };
  }

  products(): Answer<'GET /products'> {
    return { products: data.productsWith(this.subscriptions, this.planRequests) };
  }

  subscribe({ product, plan }: { product: string; plan: string | null }): Subscription {
    const made = {
      ...(data.usualSubscriptions()[3] as Subscription),
      id: randomUUID(),
      product,
      plan,
      state: 'active' as const,
      hasOwnLimits: false,
      ownLimits: { daily: null, monthly: null },
    };
    this.subscriptions = [...this.subscriptions.filter((each) => each.product !== product), made];
    return made;
  }

  askForPlan({ product, plan, terms }: { product: string; plan: string; terms: Terms }): PlanRequest {
    const { price, currency, ...limits } = terms;
    const made = { ...(data.usualPlanRequests()[0] as PlanRequest), id: randomUUID(), product, plan, ...limits };
    const asked = { ...made, price: price ?? '', currency: currency ?? '', askedAt: data.ago(0) };
    this.planRequests = [...this.planRequests.filter((each) => each.product !== product), asked];
    return asked;
  }

  withdrawRequest(id: string): PlanRequest {
    const found = this.planRequests.find((each) => each.id === id);
    if (!found) throw new FakeProblem(404, 'not_found');
    this.planRequests = this.planRequests.filter((each) => each !== found);
    return { ...found, state: 'withdrawn', answeredAt: data.ago(0) };
  }

  changePlan(id: string, { plan, acceptLowerThanUsed }: { plan: string | null; acceptLowerThanUsed: boolean }): Subscription {
    const found = this.subscriptions.find((each) => each.id === id);
    if (!found) throw new FakeProblem(404, 'not_found');
    const daily = plan === null ? 1_000 : 100_000;
    if (found.daily.used > daily && !acceptLowerThanUsed) {
      const used = { used_daily: found.daily.used, used_monthly: found.monthly.used };
      throw new FakeProblem(409, 'limit_below_use', { ...used, daily, monthly: daily * 30 });
    }
    const changed = { ...found, plan, daily: { ...found.daily, limit: daily }, version: randomUUID() };
    this.subscriptions = this.subscriptions.map((each) => (each.id === id ? changed : each));
    return changed;
  }

  statementMonths(): StatementMonths {
    return { months: this.hasUsage ? data.usualMonths() : [] };
  }

  statement(month: string): Answer<'GET /statement'> {
    const found = this.statementMonths().months.find((each) => each.month === month);
    return { statement: found ? data.usualStatement(month, found.isClosed) : null };
  }

  usage({ by }: Record<string, string>): Usage {
    const all = data.usualUsage(this.subscriptions);
    if (!this.hasUsage) return { ...all, days: [], refusals: [], answers: [] };
    return by === 'hour' ? { ...all, days: [], refusals: [], hours: data.usualHours(Date.now()) } : all;
  }

  /** Of the first key; the others are not used. */
  keyUsage(id: string, { to = '', by }: Record<string, string>): KeyUsage {
    const isUsed = this.hasUsage && id === this.keys[0]?.id;
    const hours = data.usualHours(Date.now()).map(({ mode: _, ...each }) => ({ ...each, day: to, hour: 0, unlogged: 0 }));
    if (by === 'hour') return { timeZone: 'Asia/Kolkata', today: to, answerTimesMs: [...ANSWER_TIME_BOUNDS_MS], use: isUsed ? hours : [] };
    const days = Array.from({ length: 9 }, (_, index) => data.dayAgo(index)).reverse();
    const use = days.map((day, index) => ({
      day,
      hour: null,
      startsAt: null,
      product: 'api-ip',
      admitted: 400 + 37 * index,
      answers: index < 2 ? null : data.usualAnswers(400 + 37 * index, 'api-ip'),
      refused: index % 3 === 0 ? 25 : 0,
      unavailable: 0,
      unlogged: 0,
    }));
    return { timeZone: 'Asia/Kolkata', today: to, answerTimesMs: [...ANSWER_TIME_BOUNDS_MS], use: isUsed ? use : [] };
  }

  /** Of what is filtered, only the outcome counts here. */
  requestPage({ outcome, key }: Record<string, string>): Answer<'GET /requests'> {
    const all = this.hasUsage ? usualRequests(this.keys) : [];
    const isWanted = (each: Answer<'GET /requests'>['requests'][number]): boolean =>
      (outcome === undefined || each.outcome === outcome) && (key === undefined || each.key?.id === key);
    const requests = all.filter(isWanted);
    return { requests, next: requests.length > 10 ? 'second' : null };
  }

  explain(requestId: string): Explanation {
    const refusal = this.refusals.find((each) => each.requestId === requestId);
    if (!refusal) throw new FakeProblem(404, 'not_found');
    const { at, code, product, keyId, maskedKey } = refusal;
    const passed = [
      'exactly one key is sent',
      'the key exists and is active',
      'the key has not expired',
      'the key is authorised for the product',
      'an active subscription exists',
    ];
    return {
      requestId,
      at,
      outcome: code,
      product,
      keyId,
      maskedKey,
      checks: [
        ...passed.map((check) => ({ check, outcome: 'passed' as const, saw: `${maskedKey ?? 'no key'} in the header X-API-Key` })),
        {
          check: 'the whitelist admits the caller',
          outcome: 'failed',
          saw: `address ${refusal.callerAddress ?? 'unknown'}, origin ${refusal.originHost ?? 'none'}, no rule matched`,
        },
        { check: 'request capacity remains', outcome: 'not reached', saw: 'not counted' },
      ],
      remedy: 'Add a rule for this address or origin, or call from a listed one.',
      fixes: [{ kind: 'add_rule', rule: refusal.callerAddress ?? '198.51.100.23' }],
    };
  }

  /** What the gateway would answer, by path; anything else is refused. */
  tryOut({ path }: TryBody): TryAnswer {
    return data.triedAnswer(path, this.refusals[0]?.requestId ?? null);
  }

  alertPage(): Answer<'GET /alerts'> {
    return { alerts: this.alerts, unread: this.alerts.filter((alert) => alert.readAt === null).length, next: null };
  }

  addWebhook(url: string): { secret: string; webhook: unknown } {
    const webhook = { ...(data.usualWebhooks()[0] as (typeof this.webhooks)[number]), url, lastOutcome: null };
    this.webhooks = [...this.webhooks, webhook];
    return { secret: 'whsec_bm90IGEgcmVhbCBvbmU=', webhook };
  }

  setThresholds(id: string, { percents }: { percents: number[] | null }): { percents: number[] | null } {
    const others = this.alertSettings.thresholds.filter(({ subscriptionId }) => subscriptionId !== id);
    const thresholds = percents ? [...others, { subscriptionId: id, percents }] : others;
    this.alertSettings = { ...this.alertSettings, thresholds };
    return { percents };
  }

  capDay(id: string, dailyCap: number | null): Subscription {
    const found = this.subscriptions.find((each) => each.id === id);
    if (!found) throw new FakeProblem(404, 'not_found');
    const capped = { ...found, dailyCap, version: randomUUID() };
    this.subscriptions = this.subscriptions.map((each) => (each.id === id ? capped : each));
    return capped;
  }

  offer(token: string): InvitationOffer {
    if (token === 'spent') throw new FakeProblem(404, 'invitation_unknown');
    const email = token === 'of-asha' ? 'asha@example.com' : 'somebody.else@example.com';
    const signedInAs = this.isSignedIn ? 'asha@example.com' : null;
    return { organisation: data.OTHER_ORGANISATION.organisation, email, role: 'developer', invitedBy: 'owner@example.com', signedInAs };
  }

  rename(name: string | null): { organisation: string; name: string | null } {
    const organisation = name ?? data.OWN_ORGANISATION.organisation;
    this.team = { ...this.team, organisation, name };
    this.organisation = { ...this.organisation, organisation };
    return { organisation, name };
  }

  switchTo(customerId: string): OwnMembership {
    const found = [data.OWN_ORGANISATION, data.OTHER_ORGANISATION].find((each) => each.customerId === customerId);
    if (!found) throw new FakeProblem(404, 'not_found');
    this.organisation = found;
    return found;
  }

  createToken({
    submission,
    name,
    scopes,
    days,
  }: {
    submission: string;
    name: string;
    scopes: string[];
    days: number;
  }): Answer<'POST /tokens'> {
    this.once(submission);
    const token = data.makeToken({ name, scopes, expiresAt: data.ago(-days * data.DAY) });
    this.tokens = [token, ...this.tokens];
    this.submissions.set(submission, token.id);
    return { secret: `tg_admin_0Fake4TokenThatOpensNothing${'0'.repeat(6)}`, token };
  }

  revokeToken(id: string): Token {
    const found = this.tokens.find((each) => each.id === id);
    if (!found) throw new FakeProblem(404, 'not_found');
    const revoked = { ...found, state: 'revoked' as const };
    this.tokens = this.tokens.map((each) => (each.id === id ? revoked : each));
    return revoked;
  }
}
