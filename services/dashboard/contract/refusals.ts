import { OPERATION_REFUSALS, type OperationRefusal } from '../../selling/operations/operation-refusals';

interface Row {
  readonly status: number;
  readonly title: string;
  /** What to do, unless a refusal says something more exact. */
  readonly detail: string;
}

const UNKNOWN = { status: 404, title: 'Not found', detail: 'You have nothing with this id.' } as const satisfies Row;
const STATE = {
  status: 409,
  title: 'Not possible in the current state',
  detail: 'The change does not match the current state.',
} as const satisfies Row;
const INVALID = { status: 400, title: 'Invalid request', detail: 'The request data is missing or invalid.' } as const satisfies Row;

/** Refusals that only the dashboard makes, and its own texts for some that the command line words otherwise. */
const OWN = {
  not_signed_in: { status: 401, title: 'Not signed in', detail: 'Sign in first. Your session may have ended.' },
  forbidden: { status: 403, title: 'Origin not allowed', detail: 'Changes are accepted only from the pages of this dashboard.' },
  customers_only: {
    status: 403,
    title: 'For customers only',
    detail: 'You are signed in as an operator, not as a customer. Use the pages under /operator.',
  },
  organisation_missing: {
    status: 403,
    title: 'In no organisation',
    detail: 'You are no longer a member of any organisation. Ask an owner or admin to invite you again.',
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
    detail: 'An operator must set up a second factor first.',
  },
  token_missing: {
    status: 401,
    title: 'Token missing',
    detail: 'Send a token of the management API as "Authorization: Bearer tg_admin_…". API keys and cookies are not accepted here.',
  },
  token_not_valid: {
    status: 401,
    title: 'Token not valid',
    detail: 'This token does not exist or was revoked. Create one under Tokens in the dashboard.',
  },
  token_expired: { status: 401, title: 'Token expired', detail: 'This token has expired. Create a new one under Tokens in the dashboard.' },
  scope_missing: { status: 403, title: 'Scope missing', detail: 'This token lacks the scope for this request. Create one that has it.' },
  customer_suspended: {
    status: 403,
    title: 'Account suspended',
    detail: 'The seller suspended this account. You can read, revoke and cancel. Contact support for anything else.',
  },
  version_conflict: {
    status: 409,
    title: 'Changed in the meantime',
    detail: 'Somebody changed this after you loaded it. Check the current state and decide again.',
  },
  terms_changed: { ...STATE, detail: 'Limits or price have changed since you loaded the page. Check them and decide again.' },
  plan_needs_approval: { ...STATE, detail: 'The plan is given on request: ask for it under Plans.' },
  plan_differs: { ...STATE, detail: 'The subscription is on another plan. Change its plan under Plans first.' },
  subscription_exists: { ...STATE, detail: 'There is a subscription to this product already.' },
  subscription_cancelled: { ...STATE, detail: 'This subscription is cancelled. Subscribe to the product again instead.' },
  payment_needed: { ...STATE, detail: 'This plan begins when it is paid: choose it under Plans in the dashboard, and pay there.' },
  payment_off: { ...STATE, detail: 'Payments cannot be taken at the moment. The seller has to set them up.' },
  payment_away: {
    status: 503,
    title: 'Not available',
    detail: 'The payment provider is not responding. Try again soon: nothing is charged twice.',
  },
  payment_failed: { ...STATE, detail: 'The payment failed, so nothing was changed. Check your card under Billing, and try again.' },
  change_refused: {
    ...STATE,
    detail: 'The payment provider cannot change your subscription this way. You can cancel it, and choose a plan again when it has ended.',
  },
  preview_old: {
    ...STATE,
    detail: 'What you were shown was already accepted, is more than an hour old, or is no longer true. Check it again.',
  },
  currency_differs: { ...STATE, detail: 'This plan is paid in another currency. Cancel the current one first.' },
  opens_nothing: {
    ...STATE,
    detail: 'Live keys cannot call this product today, and the price is charged all the same. Confirm that you understand this.',
  },
  plan_free: { ...STATE, detail: 'This plan needs no payment: choose it under Plans.' },
  plan_paid: {
    ...STATE,
    detail:
      'The plan is paid in advance, and its payment has to end first. You end it under Billing; the seller ends it, or gives a discount, under Paid plans.',
  },
  event_refused: { ...INVALID, detail: 'The signature of the event is not right, or it is too old.' },
  limit_below_use: {
    status: 409,
    title: 'Limit below current usage',
    detail: 'More has been used than the new limit allows. Further requests would be refused until the reset.',
  },
  already_done: { status: 409, title: 'Already done', detail: 'This form was submitted before, and its request was carried out.' },
  too_many_attempts: { status: 429, title: 'Too many attempts', detail: 'Wait a while before trying again.' },
  organisation_changed: {
    ...STATE,
    detail: 'Another organisation was chosen in this browser, or you are no longer a member of the one shown. Reload the page.',
  },
  not_found: { ...UNKNOWN, detail: 'You are in no such organisation.' },
  invitation_for_another: { status: 403, title: 'Not allowed with your role', detail: 'This invitation is for another address.' },
  statement_unknown: { ...UNKNOWN, detail: 'There is no statement for this month.' },
  invalid_password: { ...INVALID, detail: 'This is not your password.' },
  password_common: {
    ...INVALID,
    detail: 'This password is easy to guess: it is a common one, or nearly so. Choose another, for example several unrelated words.',
  },
  sign_in_again: {
    status: 403,
    title: 'Sign in again',
    detail: 'Your account has no password: sign out and in again, then do this within 10 minutes.',
  },
  wrong_password: {
    status: 401,
    title: 'Not signed in',
    detail:
      'This is not the password chosen at sign-up. If you did not sign up, do nothing; or set a new password with “Forgot your password?”, which makes the account yours.',
  },
  link_unusable: { ...INVALID, detail: 'This link does not work: it is more than an hour old, or incomplete. Request a new one.' },
  passkey_limit_reached: { ...STATE, detail: 'Your account has as many passkeys as it can. Remove one first.' },
  passkey_unknown: {
    status: 401,
    title: 'Passkey not known',
    detail: 'This passkey opens no account here; it may have been removed. Sign in another way, and check the passkeys of your account.',
  },
  passkey_unfit: {
    ...INVALID,
    detail: 'Your device’s response does not match the request, or another account has this passkey. Try again.',
  },
  passkey_expired: { ...INVALID, detail: 'This took longer than 5 minutes, or was already completed. Try again.' },
  person_unverified: {
    ...INVALID,
    detail: 'Your device did not verify that it is you. Set up its screen lock, fingerprint or PIN, and try again.',
  },
  operators_password: { status: 401, title: 'Not with a passkey', detail: 'An operator signs in by password and code.' },
  second_factor_on: { ...STATE, detail: 'The second factor is on already. Turn it off first to set up another one.' },
  signed_in: { ...STATE, detail: 'A recovery code is for signing in.' },
  second_factor_needed: {
    ...STATE,
    detail: 'An operator cannot be without a second factor. Another operator can have yours set up anew: npx tollgate operator reset.',
  },
} as const satisfies Readonly<Record<string, Row>>;

const KINDS = { unknown: UNKNOWN, conflict: STATE, invalid: INVALID } as const;

/** Stable, for programs: refusals of the dashboard, and of the operations below it. */
export type RefusalCode = keyof typeof OWN | OperationRefusal;

const isOwn = (code: RefusalCode): code is keyof typeof OWN => code in OWN;

/** Whether the dashboard has words of its own for a refusal. */
export const hasOwnWords = (code: RefusalCode): boolean => isOwn(code);

/** Status, title and usual text of a refusal. */
export function refusalOf(code: RefusalCode): Row {
  return isOwn(code) ? OWN[code] : KINDS[OPERATION_REFUSALS[code]];
}
