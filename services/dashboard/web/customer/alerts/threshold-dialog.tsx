import { Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type Subscription } from '../../../contract/plans';
import { explainConflict } from '../../parts/api/explain-conflict';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { Dialog } from '../../parts/components/dialog';
import { FormButtons } from '../../parts/components/form-buttons';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { formatCount } from '../../parts/format/numbers';
import { useSubmit } from '../../parts/hooks/use-submit';
import { parseCap, parsePercents } from './threshold-text';

/** A subscription with what its customer chose for it. */
export interface WatchedSubscription {
  readonly title: string;
  readonly counted: 'units' | 'requests';
  readonly subscription: Subscription;
  /** Null: the usual ones. */
  readonly percents: readonly number[] | null;
}

interface ThresholdDialogProps {
  readonly watched: WatchedSubscription;
  readonly onClose: () => void;
}

/** Chooses thresholds and the daily cap of one subscription. Rendered only while it is open. */
export function ThresholdDialog({ watched, onClose }: ThresholdDialogProps): ReactNode {
  const { title, counted, percents, subscription } = watched;
  const client = useQueryClient();
  const form = useForm({
    initialValues: { percents: percents?.join(', ') ?? '', cap: subscription.dailyCap === null ? '' : String(subscription.dailyCap) },
    validate: {
      percents: (value) => (parsePercents(value) === undefined ? 'Enter up to five whole numbers from 1 to 100, such as 75, 90.' : null),
      cap: (value) => (parseCap(value) === undefined ? `Enter a whole number of ${counted}, or nothing.` : null),
    },
  });
  const { submit, pending, problem } = useSubmit(async (values: typeof form.values) => {
    const { id, version } = subscription;
    const dailyCap = parseCap(values.cap) ?? null;
    try {
      if (dailyCap !== subscription.dailyCap) {
        await call('PUT /subscriptions/:id/cap', { params: { id }, body: { version, dailyCap } });
      }
      await call('PUT /subscriptions/:id/thresholds', { params: { id }, body: { percents: parsePercents(values.percents) ?? null } });
    } catch (error) {
      throw explainConflict(error);
    } finally {
      await client.invalidateQueries();
    }
    toast('Saved.');
    onClose();
  });
  return (
    <Dialog onClose={onClose} title={`Alerts and cap of ${title}`} mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="md">
          <TextInput
            label="Alert at (percent of a limit)"
            description="All of them are mailed. Empty: 50, 80 and 100%, of which 80 and 100% are mailed."
            placeholder="80, 100"
            data-autofocus
            {...form.getInputProps('percents')}
          />
          <TextInput
            label={`Stop at (${counted} a day)`}
            description={`Refuses everything above, for live and test keys each. Empty: ${limitText(subscription)}.`}
            inputMode="numeric"
            {...form.getInputProps('cap')}
          />
          <ProblemAlert problem={problem} />
          <FormButtons action="Save" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}

/** The limit without a cap is known as long as there is none. */
function limitText({ dailyCap, daily }: WatchedSubscription['subscription']): string {
  return dailyCap === null ? `the limit alone counts, now ${formatCount(daily.limit)} a day` : 'the limit of the plan alone counts';
}
