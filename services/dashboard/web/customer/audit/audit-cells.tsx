import { Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { type AuditLog } from '../../../contract/audit';
import { formatMoment } from '../../parts/format/time';
import { actionName } from './action-names';
import { describeDetails } from './describe-details';
import { EmailText } from '../../parts/components/email-text';

type Entry = AuditLog['entries'][number];

/** The action, in words and with the log's name. */
export function Action({ action }: Pick<Entry, 'action'>): ReactNode {
  return (
    <>
      {actionName(action)}
      <Text component="span" display="block" size="xs" c="dimmed" fw={400} className="mono keep">
        {action}
      </Text>
    </>
  );
}

/** The actor and the address. */
export function Actor({ actor, from }: Pick<Entry, 'actor' | 'from'>): ReactNode {
  return (
    <>
      <EmailText text={actor} />
      {from !== null && (
        <Text component="span" display="block" size="xs" c="dimmed" className="mono">
          {from}
        </Text>
      )}
    </>
  );
}

/** What changed, in words. */
export function Details({ details }: Pick<Entry, 'details'>): ReactNode {
  const parts = describeDetails(details, (iso) => formatMoment(iso));
  if (parts.length === 0) return <span className="dimmed">–</span>;
  return (
    <span>
      {parts.map(({ name, text }, index) => (
        <span key={name}>
          {index > 0 && '; '}
          <span className="dimmed">{name}</span> <bdi>{text}</bdi>
        </span>
      ))}
    </span>
  );
}
