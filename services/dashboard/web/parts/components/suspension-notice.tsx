import { Alert, Text } from '@mantine/core';
import { IconBan } from '@tabler/icons-react';
import { type ReactNode } from 'react';
import { type Suspension } from '../../../contract/fields';
import { supportAddress } from '../browser/brand';
import { Moment } from './moment';

interface SuspensionNoticeProps {
  /** Nothing is shown without one. */
  readonly suspended: Suspension | undefined;
  /** What is refused, as a sentence. */
  readonly effect: string;
}

/** Says that the seller suspended something, since when and why. */
export function SuspensionNotice({ suspended, effect }: SuspensionNoticeProps): ReactNode {
  if (!suspended) return null;
  return (
    <Alert color="red" title="Suspended by the seller" icon={<IconBan size={18} aria-hidden />}>
      {suspended.reason !== '' && <Text size="sm">{suspended.reason}</Text>}
      <Text size="sm">
        {effect} Since <Moment at={suspended.since} />. The seller can lift it
        {supportAddress === undefined ? (
          '.'
        ) : (
          <>
            : write to{' '}
            <a href={`mailto:${supportAddress}`} className="text-link in-text">
              {supportAddress}
            </a>
            .
          </>
        )}
      </Text>
    </Alert>
  );
}
