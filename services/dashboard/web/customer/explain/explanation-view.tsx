import { Alert, Badge, Group, Stack, Text, Title } from '@mantine/core';
import { IconCircleCheck, IconCircleDashed, IconCircleX, IconTool } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Explanation } from '../../../contract/explain';
import { Moment } from '../../parts/components/moment';
import { Panel } from '../../parts/components/panel';
import { FixButtons } from './fix-buttons';
import classes from './explanation-view.module.css';

type Check = Explanation['checks'][number];

const OUTCOMES = {
  passed: { Icon: IconCircleCheck, color: 'var(--mantine-color-green-light-color)', text: 'Passed' },
  failed: { Icon: IconCircleX, color: 'var(--mantine-color-red-light-color)', text: 'Failed' },
  'not reached': { Icon: IconCircleDashed, color: 'var(--mantine-color-dimmed)', text: 'Not reached' },
} as const;

interface ExplanationViewProps {
  readonly explanation: Explanation;
  /** The key with a way to it; to the customer's own page of it unless given. */
  readonly renderKey?: (maskedKey: string, keyId: string) => ReactNode;
  /** By its id unless given. */
  readonly titleOf?: (product: string) => string;
}

function linkToKey(maskedKey: string, keyId: string): ReactNode {
  return (
    <Link to="/keys/$keyId" params={{ keyId }} className="text-link mono">
      {maskedKey}
    </Link>
  );
}

/** Why a request was refused and what mends that, first; then every check in its order with what it found. */
export function ExplanationView({ explanation, renderKey = linkToKey, titleOf = (id) => id }: ExplanationViewProps): ReactNode {
  const { at, product, outcome, checks, remedy, fixes, keyId, maskedKey } = explanation;
  const isAdmitted = outcome === 'admitted';
  const failed = checks.find((check) => check.outcome === 'failed');
  return (
    <Panel title={isAdmitted ? 'Allowed' : 'Refused'} aside={<Badge color={isAdmitted ? 'green' : 'red'}>{outcome}</Badge>}>
      <Stack gap="sm">
        <Group gap="md" c="dimmed">
          <Text size="sm">
            <Moment at={at} isExact />
          </Text>
          <Text size="sm">{product === null ? 'no product' : titleOf(product)}</Text>
          {keyId !== null && renderKey(maskedKey ?? 'key', keyId)}
        </Group>
        {failed && (
          <Alert color="red" icon={<IconCircleX size={18} aria-hidden />} title={`Failed: ${failed.check}`}>
            <span className="breakable">Found: {failed.saw}</span>
          </Alert>
        )}
        {remedy !== '' && (
          <Alert color="indigo" icon={<IconTool size={18} aria-hidden />} title="How to fix it">
            {remedy}
            {keyId !== null && fixes.length > 0 && <FixButtons fixes={fixes} keyId={keyId} maskedKey={maskedKey} />}
          </Alert>
        )}
        <Title order={3}>All checks</Title>
        <ol className={classes['checks']}>
          {checks.map((check) => (
            <CheckLine key={check.check} check={check} />
          ))}
        </ol>
      </Stack>
    </Panel>
  );
}

/** What the failed one found stands above the list. */
function CheckLine({ check: { check, outcome, saw } }: { readonly check: Check }): ReactNode {
  const { Icon, color, text } = OUTCOMES[outcome];
  return (
    <li className={classes['check']} data-outcome={outcome}>
      <Icon size={20} color={color} aria-hidden className={classes['icon']} />
      <div>
        <Text size="sm" fw={600}>
          {check}
          <Text component="span" size="xs" c="dimmed" ml={8}>
            {text}
          </Text>
        </Text>
        {outcome === 'passed' && (
          <Text size="sm" className="breakable">
            Found: {saw}
          </Text>
        )}
      </div>
    </li>
  );
}
