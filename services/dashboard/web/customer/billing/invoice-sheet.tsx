import { Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { type InvoiceView } from '../../../contract/billing';
import { type Column, DataTable } from '../../parts/components/data-table';
import { formatPrice } from '../../parts/format/numbers';
import { formatDate, InvoiceStateBadge, formatMonth } from './invoice-words';

type Line = InvoiceView['lines'][number];

/** A payment's lines have no days of a month. */
function columnsOf({ currency, lines }: InvoiceView): readonly Column<Line>[] {
  const money = (price: string): string => formatPrice({ price, currency });
  const ofMonth: readonly Column<Line>[] = [
    { header: 'Days', isNumber: true, cell: ({ days, daysInMonth }) => (days > 0 ? `${days} of ${daysInMonth}` : '–') },
    { header: 'Price a month', isNumber: true, cell: ({ days, price }) => (days > 0 ? money(price) : '–') },
    { header: 'Surcharge', isNumber: true, cell: ({ surcharge }) => (Number(surcharge) > 0 ? money(surcharge) : '–') },
  ];
  return [
    { header: 'Description', isTitle: true, cell: ({ title }) => title },
    ...(lines.some(({ days }) => days > 0) ? ofMonth : []),
    { header: 'Amount', isNumber: true, cell: ({ amount }) => money(amount) },
  ];
}

function PartyPanel({ title, party }: { readonly title: string; readonly party: InvoiceView['seller'] }): ReactNode {
  const { name, address, country, taxId, email } = party;
  const lines = [name, ...address, country, taxId === null ? null : `Tax number ${taxId}`, email].filter((each) => each !== null);
  return (
    <section className="panel" aria-label={title}>
      <Text fw={600} size="sm">
        {title}
      </Text>
      {lines.map((line, index) => (
        <Text key={`${index} ${line}`} size="sm" className="breakable">
          {line}
        </Text>
      ))}
    </section>
  );
}

function Sum({ name, amount, isTotal = false }: { readonly name: string; readonly amount: string; readonly isTotal?: boolean }): ReactNode {
  return (
    <Group justify="flex-end" gap="lg">
      <Text size="sm" fw={isTotal ? 600 : 400}>
        {name}
      </Text>
      <Text size="sm" fw={isTotal ? 600 : 400} className="numbers" miw="8rem" ta="right">
        {amount}
      </Text>
    </Group>
  );
}

/** When the invoice is due, or its outcome. A note names the ids of a payment at a provider. */
function standingOf({ kind, state, dueOn, paidOn, credit, reference, reason, paidThrough }: InvoiceView): string {
  if (kind === 'credit_note') return `${paidThrough === null ? 'Cancels' : 'Refund of'} invoice ${credit ?? ''}: ${reason}`;
  if (state === 'credited') return `Cancelled by credit note ${credit ?? ''}.`;
  if (paidOn !== null) return `Paid on ${formatDate(paidOn)}${reference && paidThrough === null ? ` (${reference})` : ''}.`;
  return `Due on ${formatDate(dueOn)}.`;
}

/** An invoice or credit note as it was issued, and its present state. */
export function InvoiceSheet({ invoice }: { readonly invoice: InvoiceView }): ReactNode {
  const { month, issuedOn, currency, lines, net, taxes, total, seller, buyerDetails, placeOfSupply, serviceCode, notes, payment } = invoice;
  const money = (price: string): string => formatPrice({ price, currency });
  const asides = [
    placeOfSupply === null ? null : `Place of supply: ${placeOfSupply}.`,
    serviceCode === null ? null : `SAC or HSN: ${serviceCode}.`,
    ...notes,
    payment === null ? null : `How to pay: ${payment}`,
  ].filter((each) => each !== null);
  return (
    <Stack gap="md">
      <Group gap="sm">
        <InvoiceStateBadge state={invoice.state} />
        <Text size="sm">
          {formatMonth(month)}, issued on {formatDate(issuedOn)}. {standingOf(invoice)}
        </Text>
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <PartyPanel title="From" party={seller} />
        <PartyPanel title="To" party={buyerDetails} />
      </SimpleGrid>
      <DataTable caption="Lines of the invoice" columns={columnsOf(invoice)} rows={lines} rowKey={(line) => JSON.stringify(line)} />
      <Stack gap={4}>
        <Sum name="Net" amount={money(net)} />
        {taxes.map(({ name, percent, amount }) => (
          <Sum key={name} name={`${name} ${percent} %`} amount={money(amount)} />
        ))}
        <Sum name="Total" amount={money(total)} isTotal />
      </Stack>
      {asides.map((text) => (
        <Text key={text} size="sm">
          {text}
        </Text>
      ))}
    </Stack>
  );
}
