import { Alert, Stack } from '@mantine/core';
import { IconArrowRight, IconRefresh } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Key } from '../../../contract/keys';
import { Moment } from '../../parts/components/moment';

type Partner = NonNullable<Key['replaces']>;

/** Leads to the other key of a rotation. */
export function PartnerLink({ partner }: { readonly partner: Partner }): ReactNode {
  return (
    <Link to="/keys/$keyId" params={{ keyId: partner.id }} className="text-link in-text mono keep" style={{ color: 'inherit' }}>
      {partner.maskedKey}
    </Link>
  );
}

/** A notice on either key of a rotation. It names the other key, and the time until which both work. */
export function RotationNotice({ item: { state, expired, expiresAt, replacedBy, replaces } }: { readonly item: Key }): ReactNode {
  if (replacedBy === null && replaces === null) return null;
  const works = state !== 'revoked' && !expired;
  return (
    <Stack gap="xs">
      {replacedBy !== null && (
        <Alert color={works ? 'yellow' : 'gray'} icon={<IconArrowRight size={18} aria-hidden />} py="xs">
          Replaced by <PartnerLink partner={replacedBy} />. <Ending subject="This key" works={works} expiresAt={expiresAt} />
        </Alert>
      )}
      {replaces !== null && (
        <Alert color="gray" icon={<IconRefresh size={18} aria-hidden />} py="xs">
          Replaces <PartnerLink partner={replaces} />.{' '}
          <Ending subject="The old key" works={replaces.works} expiresAt={replaces.expiresAt} />
        </Alert>
      )}
    </Stack>
  );
}

interface EndingProps {
  readonly subject: string;
  readonly works: boolean;
  readonly expiresAt: string | null;
}

function Ending({ subject, works, expiresAt }: EndingProps): ReactNode {
  if (!works) return `${subject} no longer works.`;
  if (expiresAt === null) return `${subject} still works and has no end.`;
  return (
    <>
      {subject} ends <Moment at={expiresAt} />.
    </>
  );
}
