import { Badge, Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type Token } from '../../../contract/tokens';
import { tokensQuery } from '../../api/queries';
import { call } from '../../api/request';
import { toast } from '../../browser/toast';
import { ConfirmDialog } from '../../components/confirm-dialog';
import { DataTable, type Column } from '../../components/data-table';
import { Guarded } from '../../components/guarded';
import { EmptyState } from '../../components/empty-state';
import { Moment } from '../../components/moment';
import { PageTitle } from '../../components/page-title';
import { ProblemAlert } from '../../components/problem-alert';
import { CreateTokenDialog } from './create-token-dialog';

const STATES = {
  active: { color: 'green', text: 'Active' },
  expired: { color: 'yellow', text: 'Expired' },
  revoked: { color: 'red', text: 'Revoked' },
} as const;

function columnsFor(onRevoke: (token: Token) => void): readonly Column<Token>[] {
  return [
    {
      header: 'Token',
      isTitle: true,
      cell: ({ name, maskedToken }) => (
        <>
          <bdi className="breakable">{name}</bdi>
          <Text component="span" display="block" size="xs" c="dimmed" className="mono">
            {maskedToken}
          </Text>
        </>
      ),
    },
    { header: 'State', cell: ({ state }) => <Badge color={STATES[state].color}>{STATES[state].text}</Badge> },
    { header: 'Scopes', isWide: true, cell: ({ scopes }) => <span className="mono">{scopes.join(', ')}</span> },
    { header: 'Expires', cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
    { header: 'Made by', cell: (token) => <Maker token={token} /> },
    { header: 'Last used', cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
    {
      header: 'Revoke',
      isHeaderHidden: true,
      cell: (token) =>
        token.state === 'active' && (
          <Guarded needs="tokens">
            <Button
              size="compact-xs"
              variant="default"
              className="tappable"
              onClick={() => onRevoke(token)}
              aria-label={`Revoke ${token.name}`}
            >
              Revoke
            </Button>
          </Guarded>
        ),
    },
  ];
}

/** Who made a token; it works on when that person leaves. */
function Maker({ token: { madeBy, isMakerHere } }: { readonly token: Token }): ReactNode {
  if (madeBy === null) return 'unknown';
  return (
    <>
      <bdi className="breakable">{madeBy}</bdi>
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
  const { data, error, refetch } = useQuery(tokensQuery);
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
        Let your own programs manage keys, rules and subscriptions and read usage. The management API is at{' '}
        <span className="mono breakable">{`${window.location.origin}/api/v1`}</span>; its{' '}
        <a href="/api/v1/openapi.json" className="text-link in-text">
          OpenAPI document
        </a>{' '}
        lists every request.
      </PageTitle>
      {error && !data ? (
        <ProblemAlert problem={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
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
      )}
      {isCreating && <CreateTokenDialog onClose={close} />}
      {revoked && <RevokeDialog token={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

function RevokeDialog({ token, onClose }: { readonly token: Token; readonly onClose: () => void }): ReactNode {
  const client = useQueryClient();
  async function revoke(): Promise<void> {
    await call('POST /tokens/:id/revoke', { params: { id: token.id } });
    toast('Token revoked.');
    await client.invalidateQueries({ queryKey: tokensQuery.queryKey });
  }
  return (
    <ConfirmDialog title="Revoke this token?" action="Revoke" isDangerous onConfirm={revoke} onClose={onClose}>
      <bdi className="breakable">{token.name}</bdi> stops working at once, for good. Programs that use it are refused.
    </ConfirmDialog>
  );
}
