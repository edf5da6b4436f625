import { type FakeState } from './fake-state';

/** One page as it is looked at: where it is, and what makes it so. */
export interface PageCase {
  readonly name: string;
  /** Path, from what the fake API knows. */
  readonly path: (state: FakeState) => string;
  readonly isSignedOut?: boolean;
  readonly isEmpty?: boolean;
}

const open = (name: string, path: string): PageCase => ({ name, path: () => path, isSignedOut: true });
const own = (name: string, path: string): PageCase => ({ name, path: () => path });
const bare = (name: string, path: string): PageCase => ({ name: `${name}-empty`, path: () => path, isEmpty: true });

/** Every page, with the empty state of those that have one. */
export const EVERY_PAGE: readonly PageCase[] = [
  open('sign-in', '/sign-in'),
  open('sign-in-ended', '/sign-in?then=%2Fkeys&reason=ended'),
  open('second-step', '/second-step'),
  open('sign-up', '/sign-up'),
  open('forgot', '/forgot'),
  open('reset', '/reset-password?token=not-a-real-one'),
  open('reset-spent', '/reset-password'),
  open('verify', '/verify'),
  open('verify-link', '/verify?token=not-a-real-one'),
  open('confirm-email', '/confirm-email?token=first'),
  open('outbox', '/outbox'),
  { ...open('outbox-empty', '/outbox'), isEmpty: true },
  own('overview', '/'),
  bare('overview', '/'),
  own('keys', '/keys'),
  bare('keys', '/keys'),
  own('keys-none-found', '/keys?search=nothing-has-this-name'),
  { name: 'key', path: (state) => `/keys/${state.keys[0]?.id}` },
  { name: 'key-rotated', path: (state) => `/keys/${state.keys[1]?.id}` },
  { name: 'key-revoked', path: (state) => `/keys/${state.keys[2]?.id}` },
  { name: 'key-unknown', path: () => '/keys/00000000-0000-4000-8000-000000000000' },
  own('plans', '/plans'),
  own('usage', '/usage'),
  bare('usage', '/usage'),
  own('usage-hours', '/usage?hours=48'),
  bare('usage-hours', '/usage?hours=24'),
  own('requests', '/requests'),
  bare('requests', '/requests'),
  own('requests-none-found', '/requests?outcome=key_expired&day=2020-01-01'),
  own('statements', '/statements'),
  bare('statements', '/statements'),
  { name: 'statement', path: (state) => `/statements/${state.statementMonths().months[1]?.month}` },
  own('statement-unknown', '/statements/2020-01'),
  { name: 'explain', path: (state) => `/explain?request=${state.refusals[0]?.requestId}` },
  own('explain-unknown', '/explain?request=0123456789abcdef'),
  bare('explain', '/explain'),
  own('alerts', '/alerts'),
  bare('alerts', '/alerts'),
  own('webhooks', '/webhooks'),
  bare('webhooks', '/webhooks'),
  { name: 'webhook', path: (state) => `/webhooks/${state.webhooks[0]?.id}` },
  own('tokens', '/tokens'),
  bare('tokens', '/tokens'),
  own('team', '/team'),
  own('invitation', '/invitation?token=of-asha'),
  own('invitation-other', '/invitation?token=of-somebody-else'),
  open('invitation-new', '/invitation?token=of-asha'),
  own('invitation-spent', '/invitation?token=spent'),
  own('no-organisation', '/no-organisation'),
  own('audit', '/audit'),
  bare('audit', '/audit'),
  own('account', '/account'),
  own('no-such-page', '/no/such/page'),
];
