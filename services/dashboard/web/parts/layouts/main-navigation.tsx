import { Badge, NavLink } from '@mantine/core';
import {
  IconBell,
  IconBook2,
  IconChartBar,
  IconFileInvoice,
  IconHistory,
  IconHome,
  IconKey,
  IconListCheck,
  IconListDetails,
  IconReceipt,
  IconSearch,
  IconTerminal2,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { alertsQuery } from '../api/queries';
import { useMay } from '../hooks/use-may';
import { useSession } from '../hooks/use-session';
import { OrganisationSwitcher } from './organisation-switcher';

/** By what somebody comes for. */
const GROUPS = [
  { title: undefined, pages: [{ to: '/', label: 'Overview', Icon: IconHome }] },
  {
    title: 'Build',
    pages: [
      { to: '/keys', label: 'Keys', Icon: IconKey },
      { to: '/explain', label: 'Explain', Icon: IconSearch },
      { to: '/webhooks', label: 'Webhooks', Icon: IconWebhook },
      { to: '/tokens', label: 'Tokens', Icon: IconTerminal2 },
    ],
  },
  {
    title: 'Usage',
    pages: [
      { to: '/usage', label: 'Usage', Icon: IconChartBar },
      { to: '/requests', label: 'Requests', Icon: IconListDetails },
      { to: '/alerts', label: 'Alerts', Icon: IconBell },
    ],
  },
  {
    title: 'Billing',
    pages: [
      { to: '/plans', label: 'Plans', Icon: IconListCheck },
      { to: '/statements', label: 'Statements', Icon: IconReceipt },
      { to: '/billing', label: 'Billing', Icon: IconFileInvoice },
    ],
  },
  {
    title: 'Settings',
    pages: [
      { to: '/team', label: 'Team', Icon: IconUsers },
      { to: '/audit', label: 'Audit log', Icon: IconHistory },
    ],
  },
] as const;

type Page = (typeof GROUPS)[number]['pages'][number];

/** The pages, and how many alerts are unread. */
export function MainNavigation({ onNavigate }: { readonly onNavigate: () => void }): ReactNode {
  const pathname = useLocation({ select: (location) => location.pathname });
  const { data } = useQuery(alertsQuery(undefined));
  const unread = data?.unread ?? 0;
  const mayBill = useMay('billing');
  const { hasBilling } = useSession();
  const link = ({ to, label, Icon }: Page): ReactNode => {
    const isHere = to === '/' ? pathname === '/' : pathname === to || pathname.startsWith(`${to}/`);
    const badge = to === '/alerts' && unread > 0 && (
      <Badge size="sm" color="red" variant="light" aria-label={`${unread} unread`}>
        {unread > 99 ? '99+' : unread}
      </Badge>
    );
    return (
      <NavLink
        key={to}
        component={Link}
        to={to}
        label={label}
        active={isHere}
        aria-current={isHere ? 'page' : undefined}
        onClick={onNavigate}
        leftSection={<Icon size={17} stroke={1.6} aria-hidden />}
        rightSection={badge}
        py={7}
        className="nav-link"
      />
    );
  };
  return (
    <>
      <OrganisationSwitcher />
      {GROUPS.map(({ title, pages }) => (
        <div key={title ?? ''} role="group" aria-label={title} className="nav-group">
          {title !== undefined && (
            <span className="nav-title" aria-hidden>
              {title}
            </span>
          )}
          {pages.filter(({ to }) => to !== '/billing' || (mayBill && hasBilling)).map(link)}
          {title === 'Build' && <ReferenceLink />}
        </div>
      ))}
    </>
  );
}

/** A page of the server's own, which readers without an account see too. */
function ReferenceLink(): ReactNode {
  return (
    <NavLink
      component="a"
      href="/reference"
      label="API reference"
      leftSection={<IconBook2 size={17} stroke={1.6} aria-hidden />}
      py={7}
      className="nav-link"
    />
  );
}
