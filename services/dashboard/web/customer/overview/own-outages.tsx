import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { outagesQuery } from '../../parts/api/queries';
import { OutageNotice } from '../../parts/components/outage-notice';
import { NO_FILTER } from '../requests/request-choices';

/** Products at which this customer's requests failed. */
export function OwnOutages(): ReactNode {
  const { data } = useQuery(outagesQuery);
  return (
    <OutageNotice
      outages={data?.outages ?? []}
      detail={({ product }) => (
        <Link to="/requests" search={{ ...NO_FILTER, product, status: '5xx' }} className="text-link in-text">
          Your failed requests
        </Link>
      )}
    />
  );
}
