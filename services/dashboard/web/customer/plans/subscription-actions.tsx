import { Button, Group } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type Product, type Subscription } from '../../../contract/plans';
import { explainConflict } from '../../parts/api/explain-conflict';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { ConsentChoice, isAgreed, wantingConsent } from '../../parts/components/consent-choice';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';

type Act = 'pause' | 'resume' | 'cancel';

const TEXTS = {
  pause: { action: 'Pause', done: 'paused', text: 'Requests to this product are refused until you resume. Usage so far still counts.' },
  resume: { action: 'Resume', done: 'active again', text: 'Requests to this product are accepted again.' },
  cancel: {
    action: 'Cancel subscription',
    done: 'cancelled',
    text: 'Requests to this product are refused from now on, with every key. You can subscribe again at any time; usage so far still counts.',
  },
} as const;

interface SubscriptionActionsProps {
  readonly subscription: Subscription;
  readonly product: Product;
}

/** Pauses, resumes or cancels a subscription; each asks first. */
export function SubscriptionActions({ subscription, product }: SubscriptionActionsProps): ReactNode {
  const client = useQueryClient();
  const [act, setAct] = useState<Act>();
  const [consent, setConsent] = useState<string[]>([]);
  const { title } = product;
  const texts = act === 'resume' ? wantingConsent([product]) : [];
  const acts: readonly Act[] = subscription.state === 'active' ? ['pause', 'cancel'] : ['resume', 'cancel'];

  async function change(kind: Act): Promise<void> {
    try {
      const { id, version } = subscription;
      if (kind === 'resume') await call('POST /subscriptions/:id/resume', { params: { id }, body: { version, consent } });
      else await call(`POST /subscriptions/:id/${kind}`, { params: { id }, body: { version } });
      const isStopped = kind === 'resume' && subscription.suspended !== undefined;
      toast(`${title} is ${isStopped ? 'no longer paused, but still suspended by the seller' : TEXTS[kind].done}.`);
    } catch (error) {
      throw explainConflict(error);
    } finally {
      await client.invalidateQueries();
    }
  }

  return (
    <Group gap="xs">
      {subscription.state !== 'cancelled' &&
        acts.map((each) => (
          <Button
            key={each}
            size="compact-sm"
            variant={each === 'resume' ? 'filled' : 'default'}
            className="tappable"
            onClick={() => setAct(each)}
            aria-label={`${TEXTS[each].action}: ${title}`}
          >
            {each === 'cancel' ? 'Cancel' : TEXTS[each].action}
          </Button>
        ))}
      {act && (
        <ConfirmDialog
          title={`${TEXTS[act].action}: ${title}?`}
          action={TEXTS[act].action}
          isDangerous={act === 'cancel'}
          isReady={isAgreed(texts, consent)}
          onConfirm={() => change(act)}
          onClose={() => setAct(undefined)}
        >
          {TEXTS[act].text}
          <ConsentChoice products={texts} agreed={consent} onChange={setConsent} />
        </ConfirmDialog>
      )}
    </Group>
  );
}
