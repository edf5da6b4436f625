import { Alert, Badge, Group, Text } from '@mantine/core';
import { IconCircleCheck, IconCircleDashed, IconCircleX, IconTool } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Explanation } from '../../../contract/explain';
import { Moment } from '../../components/moment';
import { Panel } from '../../components/panel';
import classes from './explanation-view.module.css';

const OUTCOMES = {
  passed: { Icon: IconCircleCheck, color: 'var(--mantine-color-green-light-color)', text: 'Passed' },
  failed: { Icon: IconCircleX, color: 'var(--mantine-color-red-light-color)', text: 'Failed' },
  'not reached': { Icon: IconCircleDashed, color: 'var(--mantine-color-dimmed)', text: 'Not reached' },
} as const;

interface ExplanationViewProps {
  readonly explanation: Explanation;
  /** The key with a way to it; to the customer's own page of it unless given. */
  readonly renderKey?: (maskedKey: string, keyId: string) => ReactNode;
}

function linkToKey(maskedKey: string, keyId: string): ReactNode {
  return (
    <Link to="/keys/$keyId" params={{ keyId }} className="text-link mono">
      {maskedKey}
    </Link>
  );
}

/** The checks of one request in their order, what each found, and how to fix it. */
export function ExplanationView({ explanation, renderKey = linkToKey }: ExplanationViewProps): ReactNode {
  const { outcome, product, keyId, maskedKey, at, checks, remedy } = explanation;
  const isAdmitted = outcome === 'admitted';
  return (
    <Panel title={isAdmitted ? 'Allowed' : 'Refused'} aside={<Badge color={isAdmitted ? 'green' : 'red'}>{outcome}</Badge>}>
      <Group gap="md" mb="sm" c="dimmed">
        <Text size="sm">
          <Moment at={at} isExact />
        </Text>
        <Text size="sm">{product ?? 'no product'}</Text>
        {keyId !== null && renderKey(maskedKey ?? 'key', keyId)}
      </Group>
      {remedy !== '' && (
        <Alert color="indigo" icon={<IconTool size={18} aria-hidden />} title="How to fix it" mb="sm">
          {remedy}
        </Alert>
      )}
      <ol className={classes['checks']}>
        {checks.map((check) => {
          const { Icon, color, text } = OUTCOMES[check.outcome];
          return (
            <li key={check.check} className={classes['check']} data-outcome={check.outcome}>
              <Icon size={20} color={color} aria-hidden className={classes['icon']} />
              <div>
                <Text size="sm" fw={600}>
                  {check.check}
                  <Text component="span" size="xs" c="dimmed" ml={8}>
                    {text}
                  </Text>
                </Text>
                {check.outcome !== 'not reached' && (
                  <Text size="sm" className="breakable">
                    Found: {check.saw}
                  </Text>
                )}
              </div>
            </li>
          );
        })}
      </ol>
    </Panel>
  );
}
