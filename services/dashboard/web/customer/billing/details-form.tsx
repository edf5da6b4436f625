import { Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type BillingDetailsView } from '../../../contract/billing';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { FormButtons } from '../../parts/components/form-buttons';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useSubmit } from '../../parts/hooks/use-submit';

const orNull = (text: string): string | null => text.trim() || null;

/** The buyer on the next invoices. */
export function DetailsForm({ details }: { readonly details: BillingDetailsView | null }): ReactNode {
  const client = useQueryClient();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: {
      name: details?.name ?? '',
      address: details?.address.join('\n') ?? '',
      country: details?.country ?? '',
      taxId: details?.taxId ?? '',
      state: details?.state ?? '',
      email: details?.email ?? '',
    },
    validate: {
      name: (value) => (value.trim() === '' ? 'Enter the legal name.' : null),
      address: (value) => (value.trim() === '' ? 'Enter the postal address.' : null),
      country: (value) => (/^[a-z]{2}$/i.test(value.trim()) ? null : 'Enter two letters, for example IN.'),
    },
  });
  const { submit, pending, problem } = useSubmit(async ({ name, address, country, taxId, state, email }: typeof form.values) => {
    const lines = address.split('\n').map((line) => line.trim());
    const body = {
      name: name.trim(),
      address: lines.filter((line) => line !== ''),
      country: country.trim().toUpperCase(),
      taxId: orNull(taxId),
      state: orNull(state),
      email: orNull(email),
    };
    await call('PUT /billing/details', { body });
    await client.invalidateQueries({ queryKey: ['billing'] });
    toast('Your next invoices are made out to these details.');
  });
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack gap="sm" maw="32rem">
        <TextInput label="Legal name" maxLength={200} autoComplete="organization" key={form.key('name')} {...form.getInputProps('name')} />
        <Textarea
          label="Address"
          description="Up to six lines, without the country."
          autosize
          minRows={3}
          autoComplete="street-address"
          key={form.key('address')}
          {...form.getInputProps('address')}
        />
        <TextInput
          label="Country"
          description="Two letters: IN, DE, US."
          maxLength={2}
          autoComplete="country"
          key={form.key('country')}
          {...form.getInputProps('country')}
        />
        <TextInput
          label="Tax number"
          description="GSTIN or VAT number. Leave it empty if you have none."
          maxLength={40}
          key={form.key('taxId')}
          {...form.getInputProps('taxId')}
        />
        <TextInput
          label="GST state code"
          description="In India, without a GSTIN: two digits, for example 29 for Karnataka."
          maxLength={2}
          inputMode="numeric"
          key={form.key('state')}
          {...form.getInputProps('state')}
        />
        <TextInput
          label="Email for invoices"
          description="Empty: invoices are mailed to the owner."
          maxLength={254}
          type="email"
          autoComplete="email"
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
        <ProblemAlert problem={problem} />
        <FormButtons action="Save details" pending={pending} />
      </Stack>
    </form>
  );
}
