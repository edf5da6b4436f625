import { Alert } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { type ReactNode } from 'react';
import { type Outage } from '../../../contract/outages';
import { Moment } from './moment';

interface OutageNoticeProps<Shown extends Outage> {
  readonly outages: readonly Shown[];
  /** Further text for each outage. */
  readonly detail: (outage: Shown) => ReactNode;
}

/** Products that are failing, or recovered within the last day; nothing without any. */
export function OutageNotice<Shown extends Outage>({ outages, detail }: OutageNoticeProps<Shown>): ReactNode {
  const open = outages.filter(({ endedAt }) => endedAt === null);
  const over = outages.filter(({ endedAt }) => endedAt !== null);
  return (
    <>
      {open.map((outage) => (
        <Alert
          className="outage-notice"
          key={outage.id}
          color="red"
          icon={<IconAlertTriangle size={18} aria-hidden />}
          title={`${outage.title} is failing`}
          mb="md"
        >
          Since <Moment at={outage.beganAt} />. {detail(outage)}
        </Alert>
      ))}
      {over.map((outage) => (
        <Alert
          className="outage-notice"
          key={outage.id}
          color="gray"
          icon={<IconCircleCheck size={18} aria-hidden />}
          title={`${outage.title} has recovered`}
          mb="md"
        >
          It began to fail <Moment at={outage.beganAt} />, and recovered <Moment at={outage.endedAt} />. {detail(outage)}
        </Alert>
      ))}
    </>
  );
}
