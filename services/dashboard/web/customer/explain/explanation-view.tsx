import { Alert, Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import { IconCheck, IconCircleCheck, IconCircleDashed, IconCircleX, IconTool } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type Explanation, type Fix } from '../../../contract/explain';
import { ApiProblem } from '../../parts/api/api-problem';
import { explainConflict } from '../../parts/api/explain-conflict';
import { call } from '../../parts/api/request';
import { supportAddress } from '../../parts/browser/brand';
import { toast } from '../../parts/browser/toast';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { Moment } from '../../parts/components/moment';
import { formatBytes, formatCount } from '../../parts/format/numbers';
import { formatMoment } from '../../parts/format/time';
import { Panel } from '../../parts/components/panel';
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

type Act = Extract<Fix, { kind: 'add_rule' | 'activate_key' }>;

const NO_RULES = 'The key no longer has rules, so every caller is allowed. Nothing was changed.';
const KNOWN_RULE = 'The key has this rule already. Send the request again.';

function labelOf(act: Act): string {
  return act.kind === 'add_rule' ? `Add ${act.rule} to the rules` : 'Activate the key';
}

/**
 * Applies the fix to the key's present state.
 * @throws ApiProblem
 */
async function carryOut(act: Act, keyId: string): Promise<void> {
  const { version, rules } = await call('GET /keys/:id', { params: { id: keyId } });
  if (act.kind === 'activate_key') {
    await call('POST /keys/:id/activate', { params: { id: keyId }, body: { version } });
    return;
  }
  // A first rule on a key that admits everybody would refuse everybody else.
  if (rules.length === 0) throw new ApiProblem(409, 'no_rules', NO_RULES);
  if (rules.includes(act.rule)) throw new ApiProblem(409, 'rule_known', KNOWN_RULE);
  await call('PUT /keys/:id/rules', { params: { id: keyId }, body: { version, rules: [...rules, act.rule] } });
}

interface FixButtonsProps {
  readonly fixes: readonly Fix[];
  /** Null without a known key; then no fix changes one. */
  readonly keyId: string | null;
  readonly maskedKey: Explanation['maskedKey'];
  readonly requestId: string;
  /** The product whose next larger plan helps. */
  readonly wanted: string | undefined;
}

/** Fixes that can be applied at once; a change of the key asks first. */
function FixButtons({ fixes, keyId, maskedKey, requestId, wanted }: FixButtonsProps): ReactNode {
  const client = useQueryClient();
  const [act, setAct] = useState<Act>();
  async function confirm(chosen: Act): Promise<void> {
    if (keyId === null) return;
    try {
      await carryOut(chosen, keyId);
      toast(chosen.kind === 'add_rule' ? 'Rule added. Send the request again.' : 'Key activated. Send the request again.');
    } catch (error) {
      throw explainConflict(error);
    } finally {
      await client.invalidateQueries({ queryKey: ['keys'] });
    }
  }
  return (
    <Group gap="xs" mt="xs">
      {fixes.map((fix) => (
        <FixButton key={JSON.stringify(fix)} fix={fix} keyId={keyId} requestId={requestId} wanted={wanted} onAct={setAct} />
      ))}
      {act && (
        <ConfirmDialog
          title={`${labelOf(act)}?`}
          action={act.kind === 'add_rule' ? 'Add rule' : 'Activate'}
          onConfirm={() => confirm(act)}
          onClose={() => setAct(undefined)}
        >
          {act.kind === 'add_rule' ? 'Requests from there are accepted' : 'Requests are accepted again'} with the key{' '}
          <span className="mono keep">{maskedKey}</span>, on every gateway within a second.
        </ConfirmDialog>
      )}
    </Group>
  );
}

interface FixButtonProps extends Pick<FixButtonsProps, 'keyId' | 'requestId' | 'wanted'> {
  readonly fix: Fix;
  readonly onAct: (act: Act) => void;
}

function FixButton({ fix, keyId, requestId, wanted, onAct }: FixButtonProps): ReactNode {
  switch (fix.kind) {
    case 'add_rule':
    case 'activate_key':
      return (
        <Button size="xs" className={classes['fix']} leftSection={<IconCheck size={14} aria-hidden />} onClick={() => onAct(fix)}>
          {labelOf(fix)}
        </Button>
      );
    case 'open_key':
      if (keyId === null) return null;
      return (
        <Link to="/keys/$keyId" params={{ keyId }} className="text-link in-text">
          Open the key
        </Link>
      );
    case 'open_plans':
      return (
        <Link to="/plans" search={wanted === undefined ? {} : { product: wanted }} className="text-link in-text">
          {wanted === undefined ? 'Open your plans' : 'See a larger plan'}
        </Link>
      );
    case 'open_status':
      return (
        <a href="/status" className="text-link in-text">
          See the status
        </a>
      );
    case 'ask_support':
      if (supportAddress === undefined) return null;
      return (
        <a href={`mailto:${supportAddress}?subject=${encodeURIComponent(`Request ${requestId}`)}`} className="text-link in-text">
          Write to {supportAddress}
        </a>
      );
    case 'read_code':
      return (
        <a href={`/reference/errors#${fix.code}`} className="text-link in-text">
          What {fix.code} means
        </a>
      );
  }
}
