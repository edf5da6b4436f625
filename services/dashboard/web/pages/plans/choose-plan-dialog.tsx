import { Alert, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type Product } from '../../../contract/plans';
import { ApiProblem } from '../../api/api-problem';
import { explainConflict } from '../../api/explain-conflict';
import { post, put } from '../../api/request';
import { formatCount, formatPrice } from '../../format/numbers';
import { toast } from '../../browser/toast';
import { ConfirmDialog } from '../../components/confirm-dialog';
import { type Offer, termsOf } from './offers';
import { PlanComparison } from './plan-comparison';
import { PlanTerms } from './plan-terms';

interface ChoosePlanDialogProps {
  readonly product: Product;
  readonly offer: Offer;
  readonly onClose: () => void;
}

/** The act, with plan and price: what is agreed to stands on the button itself. */
function actionOf(offer: Offer, isChange: boolean, isBelowUse: boolean): string {
  const price = offer.price === null ? 'for free' : `for ${formatPrice(offer.price)} a month`;
  const act = `${isChange ? 'Change' : 'Subscribe'} to ${offer.plan ?? 'Base'} ${price}`;
  return isBelowUse ? `${act} anyway` : act;
}

/** Subscribes, or changes the plan. A limit below what is used already is said before anything happens. */
export function ChoosePlanDialog({ product, offer, onClose }: ChoosePlanDialogProps): ReactNode {
  const client = useQueryClient();
  const [belowUse, setBelowUse] = useState<ApiProblem>();
  const { subscription } = product;
  const isChange = subscription !== null && subscription.state !== 'cancelled';
  const name = offer.plan ?? 'Base';

  async function choose(): Promise<void> {
    try {
      const wanted = { plan: offer.plan, terms: termsOf(offer) };
      if (isChange) {
        const body = { ...wanted, version: subscription.version, acceptLowerThanUsed: belowUse !== undefined };
        await put(`/subscriptions/${subscription.id}/plan`, body);
      } else await post('/subscriptions', { ...wanted, product: product.id });
      toast(isChange ? `${product.title} is on ${name} now.` : `You are subscribed to ${product.title}.`);
    } catch (error) {
      if (error instanceof ApiProblem && error.code === 'limit_below_use') setBelowUse(error);
      throw explainConflict(error);
    } finally {
      await client.invalidateQueries();
    }
  }

  return (
    <ConfirmDialog
      title={isChange ? `Change ${product.title} to ${name}?` : `Subscribe to ${product.title} on ${name}?`}
      action={actionOf(offer, isChange, belowUse !== undefined)}
      isDangerous={belowUse !== undefined}
      onConfirm={choose}
      onClose={onClose}
      hiddenProblem="limit_below_use"
    >
      <PlanComparison product={product} offer={offer} />
      <PlanTerms product={product} offer={offer} />
      {belowUse && <BelowUse problem={belowUse} />}
    </ConfirmDialog>
  );
}

function BelowUse({ problem }: { readonly problem: ApiProblem }): ReactNode {
  const windows = [
    { name: 'Today', used: problem.numberMember('used_daily'), limit: problem.numberMember('daily'), until: 'tomorrow' },
    { name: 'This month', used: problem.numberMember('used_monthly'), limit: problem.numberMember('monthly'), until: 'next month' },
  ];
  return (
    <Alert color="orange" role="alert" mt="md" title="You have used more than this plan allows">
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
