import { Button, Group } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { type Explanation, type Fix } from '../../../contract/explain';
import { ApiProblem } from '../../parts/api/api-problem';
import { explainConflict } from '../../parts/api/explain-conflict';
import { call } from '../../parts/api/request';
import { supportAddress } from '../../parts/browser/brand';
import { toast } from '../../parts/browser/toast';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import classes from './explanation-view.module.css';

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
export function FixButtons({ fixes, keyId, maskedKey, requestId, wanted }: FixButtonsProps): ReactNode {
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
