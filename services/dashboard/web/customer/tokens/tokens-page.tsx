import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import type { Token } from '../../../contract/tokens';
import { tokensQuery } from '../../parts/api/queries';
import { call } from '../../parts/api/request';
import { type Column, ReadTable } from '../../parts/components/data-table';
import { EmailText } from '../../parts/components/email-text';
import { Guarded } from '../../parts/components/guarded';
import { EmptyState } from '../../parts/components/empty-state';
import { PageTitle } from '../../parts/components/page-title';
import { useRead } from '../../parts/hooks/use-read';
import { CreateTokenDialog, type CreatedToken, type TokenKind } from './create-token-dialog';
import { RevokeButton, RevokeTokenDialog, TOKEN_FACTS } from './token-cells';
import type { Scope } from '../../../contract/fields';

function columnsFor(onRevoke: (token: Token) => void): readonly Column<Token>[] {
  return [
    ...TOKEN_FACTS,
    { header: 'Made by', cell: (token) => <Maker token={token} /> },
    {
      header: 'Revoke',
      isHeaderHidden: true,
      cell: (token) => (
        <Guarded needs="tokens">
          <RevokeButton token={token} onRevoke={onRevoke} />
        </Guarded>
      ),
    },
  ];
}

/** The maker of a token, which keeps working when that person leaves. */
function Maker({ token: { madeBy, isMakerHere } }: { readonly token: Token }): ReactNode {
  if (madeBy === null) return 'unknown';
  return (
    <>
      <EmailText text={madeBy} />
      {!isMakerHere && (
        <Text component="span" display="block" size="xs" c="dimmed">
          no longer a member
        </Text>
      )}
    </>
  );
}

/** Tokens with which programs use the management API. */
export function TokensPage(): ReactNode {
  const { data, ...read } = useRead(tokensQuery);
  const [isCreating, { open, close }] = useDisclosure(false);
  const [revoked, setRevoked] = useState<Token>();
  const create = (
    <Guarded needs="tokens">
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
        Create a token
      </Button>
    </Guarded>
  );
  return (
    <>
      <PageTitle title="Tokens" actions={create}>
        Let your own programs manage keys, rules and subscriptions, and read usage. The management API is at{' '}
        <span className="mono breakable">{`${window.location.origin}/api/v1`}</span>; its{' '}
        <a href="/api/v1/openapi.json" className="text-link in-text">
          OpenAPI document
        </a>{' '}
        lists every request.
      </PageTitle>
      <ReadTable
        read={read}
        caption="Tokens"
        columns={columnsFor(setRevoked)}
        rows={data?.tokens}
        rowKey={({ id }) => id}
        expectedRows={3}
        empty={
          <EmptyState title="No tokens yet" action={create}>
            A token does only what its scopes allow, and expires. It cannot sign in, change your password or create other tokens.
          </EmptyState>
        }
      />
      {isCreating && <CreateTokenDialog kind={MANAGEMENT_TOKENS} onClose={close} />}
      {revoked && <RevokeDialog token={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

function RevokeDialog({ token, onClose }: { readonly token: Token; readonly onClose: () => void }): ReactNode {
  const revoke = (): Promise<unknown> => call('POST /tokens/:id/revoke', { params: { id: token.id } });
  return <RevokeTokenDialog token={token} revoke={revoke} queryKey={tokensQuery.queryKey} onClose={onClose} />;
}

const MANAGEMENT_SCOPES: Readonly<Record<Scope, string>> = {
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
const MANAGEMENT_TOKENS: TokenKind = {
  scopes: MANAGEMENT_SCOPES,
  // The form offers the scopes above and no others.
  create: ({ scopes, ...wanted }) => call('POST /tokens', { body: { ...wanted, scopes: scopes as Scope[] } }),
  firstRequest,
  queryKey: tokensQuery.queryKey,
};
