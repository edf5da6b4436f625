import { Alert, Badge, Group, Stack, Text, Title } from '@mantine/core';
import { IconCircleCheck, IconCircleDashed, IconCircleX, IconTool } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Explanation } from '../../../contract/explain';
import { Moment } from '../../components/moment';
import { Panel } from '../../components/panel';
import { useProductTitles } from '../../hooks/use-product-titles';
import { FixButtons } from './fix-buttons';
import classes from './explanation-view.module.css';

type Check = Explanation['checks'][number];

const OUTCOMES = {
  passed: { Icon: IconCircleCheck, color: 'var(--mantine-color-green-light-color)', text: 'Passed' },
  failed: { Icon: IconCircleX, color: 'var(--mantine-color-red-light-color)', text: 'Failed' },
  'not reached': { Icon: IconCircleDashed, color: 'var(--mantine-color-dimmed)', text: 'Not reached' },
} as const;

/** Why a request was refused and what mends that, first; then every check in its order with what it found. */
export function ExplanationView({ explanation }: { readonly explanation: Explanation }): ReactNode {
  const { outcome, checks, remedy, fixes, keyId, maskedKey } = explanation;
  const isAdmitted = outcome === 'admitted';
  const failed = checks.find((check) => check.outcome === 'failed');
  return (
    <Panel title={isAdmitted ? 'Allowed' : 'Refused'} aside={<Badge color={isAdmitted ? 'green' : 'red'}>{outcome}</Badge>}>
      <Stack gap="sm">
        <Facts explanation={explanation} />
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

function Facts({ explanation: { at, product, keyId, maskedKey } }: { readonly explanation: Explanation }): ReactNode {
  const titleOf = useProductTitles();
  return (
    <Group gap="md" c="dimmed">
      <Text size="sm">
        <Moment at={at} isExact />
      </Text>
      <Text size="sm">{product === null ? 'no product' : titleOf(product)}</Text>
      {keyId !== null && (
        <Link to="/keys/$keyId" params={{ keyId }} className="text-link mono">
          {maskedKey ?? 'key'}
        </Link>
      )}
    </Group>
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
