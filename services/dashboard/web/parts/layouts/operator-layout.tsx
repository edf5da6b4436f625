import { NavLink } from '@mantine/core';
import { IconChartBar, IconHistory, IconHome, IconKey, IconList, IconReceipt, IconServer, IconUsers } from '@tabler/icons-react';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { operatorSessionQuery, outagesOfAllQuery } from '../api/operator-queries';
import { OutageNotice } from '../components/outage-notice';
import { formatCount } from '../format/numbers';
import { ViewerProvider } from '../hooks/use-viewer';
import { REQUESTS_SEARCH } from '../format/requests-search';
import { AppFrame } from './app-frame';

const PAGES = [
  { to: '/operator', label: 'Home', Icon: IconHome },
  { to: '/operator/customers', label: 'Customers', Icon: IconUsers },
  { to: '/operator/requests', label: 'Requests', Icon: IconList },
  { to: '/operator/products', label: 'Products', Icon: IconChartBar },
  { to: '/operator/billing', label: 'Billing', Icon: IconReceipt },
  { to: '/operator/nodes', label: 'Nodes', Icon: IconServer },
  { to: '/operator/tokens', label: 'Tokens', Icon: IconKey },
  { to: '/operator/audit', label: 'Audit log', Icon: IconHistory },
] as const;

function OperatorNavigation({ onNavigate }: { readonly onNavigate: () => void }): ReactNode {
  const pathname = useLocation({ select: (location) => location.pathname });
  return PAGES.map(({ to, label, Icon }) => {
    const isHere = pathname === to || (to !== '/operator' && pathname.startsWith(`${to}/`));
    return (
      <NavLink
        key={to}
        component={Link}
        to={to}
        activeOptions={{ exact: to === '/operator' }}
        label={label}
        active={isHere}
        aria-current={isHere ? 'page' : undefined}
        onClick={onNavigate}
        leftSection={<Icon size={17} stroke={1.6} aria-hidden />}
        py={7}
        className="nav-link"
      />
    );
  });
}

/** Frame of every page of an operator. */
export function OperatorLayout(): ReactNode {
  const { data } = useSuspenseQuery(operatorSessionQuery);
  return (
    <ViewerProvider value={data}>
      <AppFrame navigation={(close) => <OperatorNavigation onNavigate={close} />} accountPath="/operator/account">
        <Outages />
        <Outlet />
      </AppFrame>
    </ViewerProvider>
  );
}

/** Present outages, above every page of the console. */
function Outages(): ReactNode {
  const { data } = useQuery(outagesOfAllQuery);
  return (
    <OutageNotice
      outages={data?.outages ?? []}
      detail={({ product, answered, failed }) => (
        <>
          {formatCount(failed)} of {formatCount(answered)} responses had a status of 500 to 599.{' '}
          <Link to="/operator/requests" search={{ ...REQUESTS_SEARCH, product, status: '5xx' }} className="text-link in-text">
            Failed requests
          </Link>
        </>
      )}
    />
  );
}
