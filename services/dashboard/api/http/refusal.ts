/** Refusals that only the dashboard utters, in one table: code → status, title, and what to do when nothing more exact is said. */
const TABLE = {
  not_signed_in: { status: 401, title: 'Not signed in', detail: 'Sign in first; your session may have ended.' },
  forbidden: { status: 403, title: 'Origin not allowed', detail: 'Changes are accepted from the pages of this dashboard only.' },
  customers_only: {
    status: 403,
    title: 'For customers only',
    detail: 'You are signed in as an operator, who is no customer. Use the pages under /operator.',
  },
  organisation_missing: {
    status: 403,
    title: 'In no organisation',
    detail: 'You are not a member of any organisation any more. Ask an owner or admin of yours to invite you again.',
  },
  role_forbids: {
    status: 403,
    title: 'Not allowed with your role',
    detail: 'Your role in this organisation does not allow this. Ask an owner or admin to do it, or to give you another role.',
  },
  operators_only: { status: 403, title: 'For operators only', detail: 'You are signed in as a customer.' },
  second_factor_missing: {
    status: 403,
    title: 'Second factor missing',
    detail: 'An operator can do nothing before a second factor is set up.',
  },
  token_missing: {
    status: 401,
    title: 'Token missing',
    detail: 'Send a token of the management API as "Authorization: Bearer tg_admin_…". API keys and cookies are not taken here.',
  },
  token_not_valid: {
    status: 401,
    title: 'Token not valid',
    detail: 'This token does not exist or was revoked. Create one under Tokens in the dashboard.',
  },
  token_expired: { status: 401, title: 'Token expired', detail: 'This token has expired. Create a new one under Tokens in the dashboard.' },
  scope_missing: { status: 403, title: 'Scope missing', detail: 'This token may not do that. Create one with the scope that it needs.' },
  customer_suspended: {
    status: 403,
    title: 'Account suspended',
    detail: 'The provider suspended this account: programs can read, and change nothing.',
  },
  conflict: { status: 409, title: 'Not possible in the current state', detail: 'The change does not fit the current state.' },
  version_conflict: {
    status: 409,
    title: 'Changed in the meantime',
    detail: 'Somebody changed this since you loaded it. Look at the current state and decide again.',
  },
  limit_below_use: {
    status: 409,
    title: 'Limit below current usage',
    detail: 'More has been used than the new limit allows. Further requests would be refused until the reset.',
  },
  already_done: { status: 409, title: 'Already done', detail: 'This form was submitted before, and its request was carried out.' },
  too_many_attempts: { status: 429, title: 'Too many attempts', detail: 'Wait a while before trying again.' },
} as const satisfies Record<string, { status: number; title: string; detail: string }>;

export type RefusalKind = keyof typeof TABLE;

export interface RefusalOptions {
  /** Public text in place of the table's. */
  readonly detail?: string;
  readonly title?: string;
  /** A code finer than the kind, for example `subscription_cancelled` under `conflict`. */
  readonly code?: string;
  /** Further members of the body, for example `current`. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that is understood and not granted. Throw it anywhere below an endpoint's handler. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  constructor(
    readonly kind: RefusalKind,
    readonly options: RefusalOptions = {},
  ) {
    super(options.code ?? kind);
    this.status = TABLE[kind].status;
  }

  /** RFC 9457 body. */
  problem(requestId: string): Readonly<Record<string, unknown>> {
    const { title: usual, detail, status } = TABLE[this.kind];
    const { code = this.kind, title = usual, members } = this.options;
    return { ...members, type: 'about:blank', title, status, detail: this.options.detail ?? detail, code, request_id: requestId };
  }
}
