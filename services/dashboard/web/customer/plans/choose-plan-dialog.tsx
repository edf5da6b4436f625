import { Alert, List, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { NO_CHARGE, planName } from '../../../reference/plan-name';
import { type AnswerOf } from '../../../contract/endpoints';
import { type Product } from '../../../contract/plans';
import { ApiProblem } from '../../parts/api/api-problem';
import { explainConflict } from '../../parts/api/explain-conflict';
import { call } from '../../parts/api/request';
import { switchCostQuery } from '../../parts/api/queries';
import { Loaded } from '../../parts/components/loaded';
import { formatCount, formatPrice } from '../../parts/format/numbers';
import { dayOf, formatDay } from '../../parts/format/time';
import { useSession } from '../../parts/hooks/use-session';
import { toast } from '../../parts/browser/toast';
import { ConsentChoice, isAgreed, wantingConsent } from '../../parts/components/consent-choice';
import { ConfirmDialog } from '../../parts/components/confirm-dialog';
import { type Offer, termsOf, toUnderstand } from './offers';
import { OwnTermsNotes, PlanTerms, SourceNotice, UnderstoodChoice, PlanComparison } from './plan-terms';

interface ChoosePlanDialogProps {
  readonly product: Product;
  readonly offer: Offer;
  readonly onClose: () => void;
}

type Act = 'Change' | 'Subscribe' | 'Request' | 'Pay' | 'Switch';

function actOf({ subscription, paidPlanId }: Product, offer: Offer): Act {
  if (offer.needsApproval) return 'Request';
  if (offer.isPaidFirst) return paidPlanId === null ? 'Pay' : 'Switch';
  return subscription !== null && subscription.state !== 'cancelled' ? 'Change' : 'Subscribe';
}

/** The act with plan and price: the button itself shows what is agreed to. */
function actionText(act: Act, offer: Offer): string {
  const price = offer.price === null ? undefined : `${formatPrice(offer.price)} a month`;
  if (act === 'Switch') return `Change to ${planName(offer.plan)}`;
  if (act === 'Pay') return `Go on and pay ${price ?? NO_CHARGE}`;
  return `${act === 'Request' ? act : `${act} to`} ${planName(offer.plan)}${price === undefined ? '' : ` for ${price}`}`;
}

const TITLES: Readonly<Record<Act, (title: string, plan: string) => string>> = {
  Change: (title, plan) => `Change ${title} to ${plan}?`,
  Subscribe: (title, plan) => `Subscribe to ${title} on ${plan}?`,
  Request: (title, plan) => `Request ${plan} of ${title}?`,
  Pay: (title, plan) => `Pay for ${plan} of ${title}?`,
  Switch: (title, plan) => `Change ${title} to ${plan}?`,
};

const DONE: Readonly<Record<Exclude<Act, 'Pay'>, (title: string, plan: string) => string>> = {
  Change: (title, plan) => `${title} is on ${plan} now.`,
  Subscribe: (title) => `You are subscribed to ${title}.`,
  Request: (title, plan) => `${plan} of ${title} is requested.`,
  Switch: (title, plan) => `${title} is on ${plan} now.`,
};

async function send(act: Exclude<Act, 'Pay'>, { product, offer, acceptLowerThanUsed, consent, understood, preview }: Wish): Promise<void> {
  const wanted = { plan: offer.plan, terms: termsOf(offer), consent, understood };
  if (act === 'Switch') {
    if (product.paidPlanId === null || preview === undefined) return;
    await call('PUT /paid-plans/:id/plan', { params: { id: product.paidPlanId }, body: { preview, understood } });
  } else if (act === 'Request' && offer.plan !== null)
    await call('POST /plan-requests', { body: { ...wanted, plan: offer.plan, product: product.id } });
  else if (act === 'Change' && product.subscription !== null) {
    const { id, version } = product.subscription;
    await call('PUT /subscriptions/:id/plan', { params: { id }, body: { ...wanted, version, acceptLowerThanUsed } });
  } else await call('POST /subscriptions', { body: { ...wanted, product: product.id } });
}

interface Wish {
  readonly product: Product;
  readonly offer: Offer;
  readonly acceptLowerThanUsed: boolean;
  readonly consent: string[];
  readonly understood: boolean;
  /** Preview of a change of a paid plan, as it was shown. */
  readonly preview?: string | undefined;
}

/** Subscribes, changes the plan, or requests one. If the new limit is below what is used already, the reader is warned first. */
export function ChoosePlanDialog({ product, offer, onClose }: ChoosePlanDialogProps): ReactNode {
  const client = useQueryClient();
  const [belowUse, setBelowUse] = useState<ApiProblem>();
  const [consent, setConsent] = useState<string[]>([]);
  // The text that was ticked: a different text must be ticked again.
  const [tickedText, setTickedText] = useState<string | null>(null);
  const unopened = toUnderstand(product, offer);
  const understood = unopened !== null && tickedText === unopened;
  const texts = wantingConsent([product]);
  const act = actOf(product, offer);
  const name = planName(offer.plan);
  const isBelowUse = belowUse !== undefined;
  const cost = useQuery({ ...switchCostQuery(product.paidPlanId ?? '', offer.plan ?? '', termsOf(offer)), enabled: act === 'Switch' });

  async function choose(): Promise<void> {
    try {
      if (act === 'Pay' && offer.plan !== null) {
        const body = { product: product.id, plan: offer.plan, terms: termsOf(offer), consent, understood };
        const { url } = await call('POST /checkouts', { body });
        return window.location.assign(url);
      }
      if (act === 'Pay') return;
      await send(act, { product, offer, acceptLowerThanUsed: isBelowUse, consent, understood, preview: cost.data?.preview });
      const isStopped = act !== 'Request' && product.subscription?.suspended !== undefined;
      const isLater = cost.data?.begins === 'next_period';
      const done = isLater ? `${product.title} changes to ${name} with the next period.` : DONE[act](product.title, name);
      toast(`${done}${isStopped ? ' The seller still suspends it.' : ''}`);
    } catch (error) {
      if (error instanceof ApiProblem && error.code === 'limit_below_use') setBelowUse(error);
      throw explainConflict(error);
    } finally {
      await client.invalidateQueries();
    }
  }

  return (
    <ConfirmDialog
      title={TITLES[act](product.title, name)}
      action={isBelowUse ? `${actionText(act, offer)} anyway` : actionText(act, offer)}
      isDangerous={isBelowUse}
      isReady={isAgreed(texts, consent) && (unopened === null || understood) && (act !== 'Switch' || cost.data !== undefined)}
      onConfirm={choose}
      onClose={onClose}
      hiddenProblem="limit_below_use"
    >
      <PlanComparison product={product} offer={offer} />
      {act === 'Switch' ? (
        <Loaded query={cost} height={60}>
          {(data) => <SwitchCost {...data} product={product} />}
        </Loaded>
      ) : (
        <PlanTerms product={product} offer={offer} />
      )}
      <SourceNotice product={product} />
      <UnderstoodChoice text={unopened} isUnderstood={understood} onChange={(isTicked) => setTickedText(isTicked ? unopened : null)} />
      <ConsentChoice products={texts} agreed={consent} onChange={setConsent} />
      {belowUse && <BelowUse problem={belowUse} />}
    </ConfirmDialog>
  );
}

type SwitchCostProps = AnswerOf<'POST /paid-plans/:id/preview'> & { readonly product: Product };

/** When a change of a paid plan begins, and what it costs. */
function SwitchCost({ begins, beginsAt, endsAt, amount, currency, product }: SwitchCostProps): ReactNode {
  const { quotaTimeZone } = useSession();
  const dateOf = (at: string | null): string => (at === null ? '' : formatDay(dayOf(new Date(at), quotaTimeZone)));
  const isFree = /^[0.]+$/.test(amount);
  const TEXTS = {
    now: isFree
      ? 'The plan changes at once, and nothing is charged during the trial.'
      : `${formatPrice({ price: amount, currency })} is charged now: a period costs the dearest plan that you have in it. The plan changes at once if the payment succeeds, and nothing changes if not.`,
    next_period: `The plan changes on ${dateOf(beginsAt)}, when the period is over that you have paid for. Nothing is charged or credited before.`,
    keep: 'You stay on this plan: the change to another one is taken back. Nothing is charged now.',
  };
  return (
    <List size="sm" spacing={4} mt="sm">
      <List.Item>{TEXTS[begins]}</List.Item>
      <List.Item>
        {endsAt === null
          ? 'From the next period on the price above is charged.'
          : `It ends on ${dateOf(endsAt)} all the same, because you have cancelled.`}
      </List.Item>
      {begins !== 'keep' && <OwnTermsNotes subscription={product.subscription} />}
    </List>
  );
}

function BelowUse({ problem }: { readonly problem: ApiProblem }): ReactNode {
  const alert = useRef<HTMLDivElement>(null);
  useEffect(() => alert.current?.scrollIntoView({ block: 'nearest' }), []);
  const windows = [
    { name: 'Today', used: problem.numberMember('used_daily'), limit: problem.numberMember('daily'), until: 'tomorrow' },
    { name: 'This month', used: problem.numberMember('used_monthly'), limit: problem.numberMember('monthly'), until: 'next month' },
  ];
  return (
    <Alert ref={alert} color="orange" role="alert" mt="md" title="You have used more than this plan allows">
      {windows.map(
        ({ name, used = 0, limit = 0, until }) =>
          used > limit && (
            <Text size="sm" key={name}>
              {name}: {formatCount(used)} used, new limit {formatCount(limit)}. Every request is refused until {until}.
            </Text>
          ),
      )}
    </Alert>
  );
}
