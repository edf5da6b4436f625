import { type Account, type AccountKind, FOREIGN_INVITATION } from './page-accounts';
import { type Scene } from './scene';
import { dayAgo } from './seed-use';

type Path = string | ((account: Account) => string);

const scene =
  (as: AccountKind | 'nobody') =>
  (name: string, path: Path): Scene => ({
    name,
    as,
    path: typeof path === 'string' ? () => path : path,
  });
const open = scene('nobody');
const own = scene('usual');
const bare = (name: string, path: string): Scene => scene('new')(`${name}-empty`, path);

/** A month that is closed. */
const lastMonth = (): string => new Date(Date.parse(`${dayAgo(0).slice(0, 7)}-01`) - 1).toISOString().slice(0, 7);

/** Every page, with the empty state of those that have one. */
export const EVERY_PAGE: readonly Scene[] = [
  open('sign-in', '/sign-in'),
  open('sign-in-ended', '/sign-in?then=%2Fkeys&reason=ended'),
  open('account-deleted', '/sign-in?reason=deleted'),
  open('second-step', '/second-step'),
  open('sign-up', '/sign-up'),
  open('forgot', '/forgot'),
  open('reset', '/reset-password?token=not-a-real-one'),
  open('reset-spent', '/reset-password'),
  open('verify', '/verify'),
  open('verify-link', '/verify?token=not-a-real-one'),
  open('confirm-email', '/confirm-email?token=first'),
  open('outbox', '/outbox'),
  own('overview', '/'),
  bare('overview', '/'),
  own('keys', '/keys'),
  bare('keys', '/keys'),
  own('keys-none-found', '/keys?search=nothing-has-this-name'),
  own('key', ({ keys }) => `/keys/${keys[0]}`),
  own('key-rotated', ({ keys }) => `/keys/${keys[1]}`),
  own('key-revoked', ({ keys }) => `/keys/${keys[2]}`),
  own('key-unknown', '/keys/00000000-0000-4000-8000-000000000000'),
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
  own('statement', () => `/statements/${lastMonth()}`),
  own('statement-unknown', '/statements/2020-01'),
  own('billing', '/billing'),
  bare('billing', '/billing'),
  own('invoice', ({ invoice }) => `/billing/${invoice}`),
  own('invoice-unknown', '/billing/00000000-0000-4000-8000-000000000000'),
  own('explain', ({ refused }) => `/explain?request=${refused}`),
  own('explain-unknown', '/explain?request=0123456789abcdef'),
  bare('explain', '/explain'),
  own('alerts', '/alerts'),
  bare('alerts', '/alerts'),
  own('webhooks', '/webhooks'),
  bare('webhooks', '/webhooks'),
  own('webhook', ({ webhook }) => `/webhooks/${webhook}`),
  own('tokens', '/tokens'),
  bare('tokens', '/tokens'),
  own('team', '/team'),
  own('invitation', ({ invitation }) => `/invitation?token=${invitation}`),
  bare('invitation-other', `/invitation?token=${FOREIGN_INVITATION}`),
  open('invitation-new', `/invitation?token=${FOREIGN_INVITATION}`),
  own('invitation-spent', '/invitation?token=spent'),
  scene('outsider')('no-organisation', '/no-organisation'),
  own('audit', '/audit'),
  bare('audit', '/audit?kind=token'),
  own('reference', '/reference'),
  open('reference-reader', '/reference'),
  own('reference-post', '/reference/api-glead'),
  own('reference-upload', '/reference/api-image'),
  own('reference-later-step', '/reference/api-gst'),
  open('home', '/'),
  open('products', '/products'),
  open('product', '/products/api-ip'),
  open('docs', '/docs'),
  open('guide', '/docs/limits'),
  open('search', '/search?q=quota'),
  open('no-such-public-page', '/no/such/page'),
  open('pricing', '/pricing?requests=4'),
  open('errors-code', '/reference/errors#otp_invalid'),
  own('account', '/account'),
  own('no-such-page', '/no/such/page'),
];
