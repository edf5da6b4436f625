import { Alert, Badge, Group, Stack, Text, Title } from '@mantine/core';
import { IconCircleCheck, IconCircleDashed, IconCircleX, IconTool } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Explanation } from '../../../contract/explain';
import { Moment } from '../../parts/components/moment';
import { formatBytes, formatCount } from '../../parts/format/numbers';
import { formatMoment } from '../../parts/format/time';
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
  /** Shows the key with a link to it; by default to the customer's own page of it. */
  readonly renderKey?: (maskedKey: string, keyId: string) => ReactNode;
}

function linkToKey(maskedKey: string, keyId: string): ReactNode {
  return (
    <Link to="/keys/$keyId" params={{ keyId }} className="text-link mono">
      {maskedKey}
    </Link>
  );
}

function verdictOf({ outcome, answer }: Explanation): { readonly title: string; readonly color: string } {
  if (outcome !== 'admitted') return { title: outcome.startsWith('would_refuse') ? 'Would be refused' : 'Refused', color: 'red' };
  if (!answer) return { title: 'Allowed', color: 'gray' };
  if (answer.status >= 500) return { title: 'Failed', color: 'red' };
  return answer.status >= 400 ? { title: 'Refused by the API', color: 'orange' } : { title: 'Succeeded', color: 'green' };
}

function FailingSince({ since, until }: { readonly since: string; readonly until: string | null }): ReactNode {
  return (
    <>
      {' '}
      Failing {until === null ? 'since' : 'from'} {formatMoment(since)}
      {until !== null && ` to ${formatMoment(until)}`} (
      <a href="/status" className="text-link in-text">
        status
      </a>
      ).
    </>
  );
}

const CHARGES = {
  none: 'nothing charged',
  charged: 'charged',
  given_back: 'given back',
  settled: 'charged what the response said',
  unknown: 'whether the charge was given back is no longer known',
} as const;

/** What the gateway reported, or that it has not yet. */
function Response({ explanation: { outcome, answer, isRunning } }: Pick<ExplanationViewProps, 'explanation'>): ReactNode {
  if (outcome !== 'admitted') return null;
  const facts = answer && [
    answer.status,
    ...(answer.milliseconds === null ? [] : [`${formatCount(answer.milliseconds)} ms`]),
    ...(answer.bytes === null ? [] : [formatBytes(answer.bytes)]),
    ...(answer.units === null ? [] : [`${answer.units} ${answer.units === 1 ? 'unit' : 'units'}`]),
    CHARGES[answer.charge],
  ];
  const none = isRunning ? 'Not reported yet. This page fills in when it is.' : 'Its gateway has not reported it.';
  return (
    <>
      <Title order={3}>Response</Title>
      <Text size="sm">{facts ? `${facts.join(' · ')}. Reported by the gateway.` : none}</Text>
    </>
  );
}

/** First what the caller got and how to mend it; then the response, and every check in order with what it found. */
export function ExplanationView({ explanation, renderKey = linkToKey }: ExplanationViewProps): ReactNode {
  const { requestId, at, summary, product, outcome, checks, answer, remedy, fixes, keyId, maskedKey } = explanation;
  const failed = checks.find((check) => check.outcome === 'failed');
  const { title, color } = verdictOf(explanation);
  const wanted = /^(quota_(daily|monthly)|rate)_exceeded$/.test(outcome) ? product?.id : undefined;
  return (
    <Panel title={title} aside={<Badge color={color}>{answer?.status ?? outcome}</Badge>}>
      <Stack gap="sm">
        <Text fw={600} className="breakable">
          {summary}
          {product?.since != null && <FailingSince since={product.since} until={product.until} />}
        </Text>
        <Group gap="md" c="dimmed">
          <Text size="sm">
            <Moment at={at} isExact />
          </Text>
          <Text size="sm">{product?.title ?? 'no product'}</Text>
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
            {fixes.length > 0 && <FixButtons fixes={fixes} keyId={keyId} maskedKey={maskedKey} requestId={requestId} wanted={wanted} />}
          </Alert>
        )}
        <Response explanation={explanation} />
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

/** The finding of the failed check stands above the list. */
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
