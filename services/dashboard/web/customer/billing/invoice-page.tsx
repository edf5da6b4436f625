import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { invoiceQuery } from '../../parts/api/queries';
import { addressOf } from '../../parts/api/request';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { InvoiceSheet } from './invoice-sheet';

/** One invoice of the customer's own. */
export function InvoicePage(): ReactNode {
  const { invoiceId } = useParams({ from: '/shell/billing/$invoiceId' });
  const query = useQuery(invoiceQuery(invoiceId));
  const name = query.data?.kind === 'credit_note' ? 'Credit note' : 'Invoice';
  return (
    <>
      <PageTitle
        title={`${name} ${query.data?.number ?? ''}`.trim()}
        actions={
          query.data && (
            <Button
              component="a"
              href={addressOf('GET /invoices/:id/pdf', { params: { id: invoiceId } })}
              download
              variant="default"
              leftSection={<IconDownload size={16} aria-hidden />}
            >
              Download PDF
            </Button>
          )
        }
      />
      <Loaded query={query} height={500}>
        {(invoice) => <InvoiceSheet invoice={invoice} />}
      </Loaded>
    </>
  );
}
