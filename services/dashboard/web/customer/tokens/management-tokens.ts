import { type Scope } from '../../../contract/fields';
import { tokensQuery } from '../../parts/api/queries';
import { call } from '../../parts/api/request';
import { type CreatedToken, type TokenKind } from './create-token-form';

export const MANAGEMENT_SCOPES: Readonly<Record<Scope, string>> = {
  'keys:read': 'See keys and their rules',
  'keys:write': 'Create, change, rotate and revoke keys',
  'rules:read': 'See and simulate the rules of a key',
  'rules:write': 'Replace the rules of a key',
  'subscriptions:read': 'See products, plans and subscriptions',
  'subscriptions:write': 'Subscribe, change plans, pause and cancel',
  'usage:read': 'See usage and refused requests',
};

/** A request that every token with the first of its scopes can make. */
function firstRequest({ secret, token: { scopes } }: CreatedToken): string {
  const isAllowed = (wanted: Scope): boolean => scopes.includes(wanted);
  const today = new Date().toISOString().slice(0, 10);
  const path = isAllowed('keys:read')
    ? '/keys'
    : isAllowed('subscriptions:read')
      ? '/products'
      : isAllowed('usage:read')
        ? `/usage?from=${today}&to=${today}`
        : '/openapi.json';
  return `curl -H 'Authorization: Bearer ${secret}' '${window.location.origin}/api/v1${path}'`;
}

/** Tokens of the management API. */
export const MANAGEMENT_TOKENS: TokenKind = {
  scopes: MANAGEMENT_SCOPES,
  // The form offers the scopes above and no others.
  create: ({ scopes, ...wanted }) => call('POST /tokens', { body: { ...wanted, scopes: scopes as Scope[] } }),
  firstRequest,
  queryKey: tokensQuery.queryKey,
};
