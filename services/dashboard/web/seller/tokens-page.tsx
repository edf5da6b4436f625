import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { type SellerScope } from '../../contract/fields';
import { type SellerToken } from '../../contract/tokens';
import { sellerTokensQuery } from '../parts/api/operator-queries';
import { call } from '../parts/api/request';
import { type Column, ReadTable } from '../parts/components/data-table';
import { EmailText } from '../parts/components/email-text';
import { EmptyState } from '../parts/components/empty-state';
import { PageTitle } from '../parts/components/page-title';
import { useRead } from '../parts/hooks/use-read';
import { CreateTokenDialog, type TokenKind } from '../customer/tokens/create-token-dialog';
import { RevokeButton, RevokeTokenDialog, TOKEN_FACTS } from '../customer/tokens/token-cells';

const SCOPES: Readonly<Record<SellerScope, string>> = {
  'customers:read': 'See customers',
  'customers:write': 'Create customers, write notes, suspend and restore',
  'keys:read': 'See keys and their rules',
  'keys:write': 'Create, change, rotate and revoke keys',
  'rules:read': 'See and simulate the rules of a key',
  'rules:write': 'Replace the rules of a key',
  'subscriptions:read': 'See products, plans and subscriptions',
  'subscriptions:write': 'Subscribe, change plans, set limits, answer plan requests',
  'usage:read': 'See usage and requests',
  'payments:read': 'See payments and paid plans',
  'payments:write': 'Refund payments, give discounts, end and resume paid plans',
  'statements:read': 'See monthly statements',
};

const KIND: TokenKind = {
  scopes: SCOPES,
  // The form offers the scopes above and no others.
  create: ({ scopes, ...wanted }) => call('POST /operator/tokens', { body: { ...wanted, scopes: scopes as SellerScope[] } }),
  firstRequest: ({ secret, token }) => {
    const path = token.scopes.includes('customers:read') ? '/customers' : '/openapi.json';
    return `curl -H 'Authorization: Bearer ${secret}' '${window.location.origin}/api/seller${path}'`;
  },
  queryKey: sellerTokensQuery.queryKey,
};

const columnsFor = (onRevoke: (token: SellerToken) => void): readonly Column<SellerToken>[] => [
  ...TOKEN_FACTS,
  { header: 'Made by', cell: ({ madeBy }) => <EmailText text={madeBy} /> },
  { header: 'Revoke', isHeaderHidden: true, cell: (token) => <RevokeButton token={token} onRevoke={onRevoke} /> },
];

/** Tokens with which the seller's own programs use the seller's API. */
export function SellerTokensPage(): ReactNode {
  const { data, ...read } = useRead(sellerTokensQuery);
  const [isCreating, { open, close }] = useDisclosure(false);
  const [revoked, setRevoked] = useState<SellerToken>();
  const create = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      Create a token
    </Button>
  );
  return (
    <>
      <PageTitle title="Tokens" actions={create}>
        Let your own back end create customers, issue keys, give plans and read usage. The seller’s API is at{' '}
        <span className="mono breakable">{`${window.location.origin}/api/seller`}</span>; its{' '}
        <a href="/api/seller/openapi.json" className="text-link in-text">
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
            A token does only what its scopes allow, for all customers. It expires, and ends with its maker’s account.
          </EmptyState>
        }
      />
      {isCreating && <CreateTokenDialog kind={KIND} onClose={close} />}
      {revoked && (
        <RevokeTokenDialog
          token={revoked}
          revoke={() => call('POST /operator/tokens/:id/revoke', { params: { id: revoked.id } })}
          queryKey={sellerTokensQuery.queryKey}
          onClose={() => setRevoked(undefined)}
        />
      )}
    </>
  );
}
