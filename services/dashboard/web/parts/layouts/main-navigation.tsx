import { Badge, NavLink, NativeSelect, Stack } from '@mantine/core';
import {
  IconActivity,
  IconBell,
  IconBook2,
  IconChartBar,
  IconFileInvoice,
  IconHelp,
  IconHistory,
  IconHome,
  IconKey,
  IconListCheck,
  IconListDetails,
  IconMail,
  IconReceipt,
  IconSearch,
  IconTerminal2,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { alertsQuery } from '../api/queries';
import { useSession, useMay } from '../hooks/use-session';
import { call } from '../api/request';
import { supportAddress } from '../browser/brand';
import { ProblemAlert } from '../components/problem-alert';
import { useSubmit } from '../hooks/use-submit';
import { ROLE_NAMES } from '../format/role-words';

/** Groups of pages by purpose. */
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
        </div>
      ))}
      <div role="group" aria-label="Help" className="nav-group">
        <span className="nav-title" aria-hidden>
          Help
        </span>
        {PUBLIC_PAGES.map((page) => (
          <PublicLink key={page.href} {...page} />
        ))}
        {supportAddress !== undefined && <PublicLink href={`mailto:${supportAddress}`} label="Support" Icon={IconMail} />}
      </div>
    </>
  );
}

/** Pages that the server writes, which need no account. */
const PUBLIC_PAGES = [
  { href: '/docs', label: 'Docs', Icon: IconHelp },
  { href: '/reference', label: 'API reference', Icon: IconBook2 },
  { href: '/status', label: 'Status', Icon: IconActivity },
] as const;

interface PublicLinkProps {
  readonly href: string;
  readonly label: string;
  readonly Icon: typeof IconHome;
}

function PublicLink({ href, label, Icon }: PublicLinkProps): ReactNode {
  return (
    <NavLink
      component="a"
      href={href}
      label={label}
      leftSection={<Icon size={17} stroke={1.6} aria-hidden />}
      py={7}
      className="nav-link"
    />
  );
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u200f\u061c]/u;

/**
 * An option takes no markup. Unicode's isolates (U+2068, U+2069) keep a name written from right to left from turning the words around it.
 */
function isolateText(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

/** Switches the organisation that the pages show. Nothing for members of only one. */
function OrganisationSwitcher(): ReactNode {
  const { customerId, organisations } = useSession();
  const { submit, pending, problem } = useSubmit(async (wanted: string) => {
    await call('POST /organisation', { body: { customerId: wanted } });
    // Nothing that is shown or cached belongs to the other organisation.
    window.location.assign('/');
  });
  if (organisations.length < 2) return null;
  return (
    <Stack gap={6} mb="sm">
      <NativeSelect
        label="Organisation"
        size="xs"
        value={customerId}
        disabled={pending}
        data={organisations.map((each) => ({
          value: each.customerId,
          label: `${isolateText(each.organisation)} (${ROLE_NAMES[each.role]})`,
        }))}
        onChange={(event) => void submit(event.currentTarget.value)}
      />
      <ProblemAlert problem={problem} />
    </Stack>
  );
}
