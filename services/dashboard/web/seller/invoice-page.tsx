import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconDownload } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { type InvoiceView } from '../../contract/billing';
import { anyInvoiceQuery } from '../parts/api/operator-queries';
import { addressOf, call } from '../parts/api/request';
import { toast } from '../parts/browser/toast';
import { Dialog } from '../parts/components/dialog';
import { FormButtons } from '../parts/components/form-buttons';
import { Loaded } from '../parts/components/loaded';
import { PageTitle } from '../parts/components/page-title';
import { ProblemAlert } from '../parts/components/problem-alert';
import { dayOf } from '../parts/format/time';
import { useSubmit } from '../parts/hooks/use-submit';
import { useViewer } from '../parts/hooks/use-viewer';
import { InvoiceSheet } from '../customer/billing/invoice-sheet';
import { totalOf } from '../customer/billing/invoice-words';
import { ReasonDialog } from './reason-dialog';

interface ActProps {
  readonly invoice: InvoiceView;
  readonly onClose: () => void;
}

/** Reloads what the act has changed. */
function useSettled(): (message: string) => Promise<void> {
  const client = useQueryClient();
  return async (message) => {
    await client.invalidateQueries({ queryKey: ['operator'] });
    toast(message);
  };
}

function PaidDialog({ invoice, onClose }: ActProps): ReactNode {
  const { id, number, buyer } = invoice;
  const settled = useSettled();
  const { quotaTimeZone } = useViewer();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { paidOn: dayOf(new Date(), quotaTimeZone), reference: '' },
    validate: { paidOn: (value) => (/^\d{4}-\d\d-\d\d$/.test(value) ? null : 'Enter a day such as 2027-03-31.') },
  });
  const { submit, pending, problem } = useSubmit(async ({ paidOn, reference }: typeof form.values) => {
    await call('POST /operator/invoices/:id/paid', { params: { id }, body: { paidOn, reference } });
    onClose();
    await settled(`${number} is paid.`);
  });
  return (
    <Dialog title={`Mark ${number} as paid`} onClose={onClose} mayCloseLightly={!pending}>
      <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
        <Stack gap="sm">
          <Text size="sm">
            {buyer} paid {totalOf(invoice)} in full. The customer is sent a receipt. This cannot be undone, except by a credit note.
          </Text>
          <TextInput type="date" label="Paid on" data-autofocus key={form.key('paidOn')} {...form.getInputProps('paidOn')} />
          <TextInput
            label="Reference"
            description="For example of the transfer. The customer sees it."
            maxLength={200}
            key={form.key('reference')}
            {...form.getInputProps('reference')}
          />
          <ProblemAlert problem={problem} />
          <FormButtons action="Mark as paid" pending={pending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}

function CreditDialog({ invoice, onClose }: ActProps): ReactNode {
  const { id, number } = invoice;
  const settled = useSettled();
  return (
    <ReasonDialog
      title={`Credit ${number}`}
      action="Credit invoice"
      onSend={async (reason) => {
        await call('POST /operator/invoices/:id/credit', { params: { id }, body: { reason } });
        await settled(`${number} was credited.`);
      }}
      onClose={onClose}
    >
      A credit note cancels the whole invoice, {totalOf(invoice)}, and is mailed to the customer. Money that was paid is not sent back by
      this: send it back yourself.
    </ReasonDialog>
  );
}

function Actions({ invoice }: { readonly invoice: InvoiceView }): ReactNode {
  const [act, setAct] = useState<'pay' | 'credit'>();
  const { id, kind, state, paidThrough } = invoice;
  const close = (): void => setAct(undefined);
  const isOwed = state === 'open' || state === 'overdue';
  return (
    <Group gap="xs">
      <Button
        component="a"
        href={addressOf('GET /operator/invoices/:id/pdf', { params: { id } })}
        download
        variant="default"
        leftSection={<IconDownload size={16} aria-hidden />}
      >
        Download PDF
      </Button>
      {kind === 'invoice' && state !== 'credited' && paidThrough === null && (
        <Button variant="default" onClick={() => setAct('credit')}>
          Credit
        </Button>
      )}
      {isOwed && <Button onClick={() => setAct('pay')}>Mark as paid</Button>}
      {act === 'pay' && <PaidDialog invoice={invoice} onClose={close} />}
      {act === 'credit' && <CreditDialog invoice={invoice} onClose={close} />}
    </Group>
  );
}

/** One invoice, with the seller's possible acts. */
export function SellerInvoicePage(): ReactNode {
  const { invoiceId } = useParams({ from: '/console/operator/billing/$invoiceId' });
  const query = useQuery(anyInvoiceQuery(invoiceId));
  const { data } = query;
  const name = data?.kind === 'credit_note' ? 'Credit note' : 'Invoice';
  return (
    <>
      <PageTitle title={`${name} ${data?.number ?? ''}`.trim()} actions={data && <Actions invoice={data} />} />
      <Loaded query={query} height={500}>
        {(invoice) => <InvoiceSheet invoice={invoice} />}
      </Loaded>
    </>
  );
}
