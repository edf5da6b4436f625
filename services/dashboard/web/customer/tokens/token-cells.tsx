import { Badge, Button, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type Token } from '../../../contract/tokens';
import { toast } from '../../parts/browser/toast';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { type Column } from '../../parts/components/data-table';
import { Moment } from '../../parts/components/moment';

/** A token for either API. */
type AnyToken = Omit<Token, 'madeBy' | 'isMakerHere'>;

const STATES = {
  active: { color: 'green', text: 'Active' },
  expired: { color: 'yellow', text: 'Expired' },
  revoked: { color: 'red', text: 'Revoked' },
} as const;

/** Columns of every list of tokens. */
export const TOKEN_FACTS: readonly Column<AnyToken>[] = [
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
  { header: 'Last used', cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
];

interface RevokeButtonProps<Shown extends AnyToken> {
  readonly token: Shown;
  readonly onRevoke: (token: Shown) => void;
}

/** Button in a row; nothing for a token that has ended. */
export function RevokeButton<Shown extends AnyToken>({ token, onRevoke }: RevokeButtonProps<Shown>): ReactNode {
  if (token.state !== 'active') return null;
  return (
    <Button size="compact-xs" variant="default" className="tappable" onClick={() => onRevoke(token)} aria-label={`Revoke ${token.name}`}>
      Revoke
    </Button>
  );
}

interface RevokeTokenDialogProps {
  readonly token: AnyToken;
  readonly revoke: () => Promise<unknown>;
  /** Key of the query that lists them. */
  readonly queryKey: readonly string[];
  readonly onClose: () => void;
}

/** Asks before a token ends. */
export function RevokeTokenDialog({ token, revoke, queryKey, onClose }: RevokeTokenDialogProps): ReactNode {
  const client = useQueryClient();
  async function confirm(): Promise<void> {
    await revoke();
    toast('Token revoked.');
    await client.invalidateQueries({ queryKey });
  }
  return (
    <ConfirmDialog title="Revoke this token?" action="Revoke" isDangerous onConfirm={confirm} onClose={onClose}>
      <bdi className="breakable">{token.name}</bdi> stops working at once, for good. Programs that use it are refused.
    </ConfirmDialog>
  );
}
