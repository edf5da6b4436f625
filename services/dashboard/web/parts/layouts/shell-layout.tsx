import { Alert, Badge, Button, Group, NativeSelect, NavLink, Stack, Text } from '@mantine/core';
import {
  IconActivity,
  IconBell,
  IconBook2,
  IconChartBar,
  IconEye,
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
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { alertsQuery } from '../api/queries';
import { call } from '../api/request';
import { supportAddress } from '../browser/brand';
import { stopViewing, viewedCustomer } from '../browser/viewed-customer';
import { ProblemAlert } from '../components/problem-alert';
import { SuspensionNotice } from '../components/suspension-notice';
import { useMay, useSession } from '../hooks/use-session';
import { ViewerProvider } from '../hooks/use-viewer';
import { AppFrame } from './app-frame';
import { UnsavedGuard } from '../components/unsaved-guard';
import { type Permission } from '../../../contract/team';
import { ROLE_NAMES } from '../format/role-words';
import { useSubmit } from '../hooks/use-submit';

/** Frame of every page of a customer. */
export function ShellLayout(): ReactNode {
  const session = useSession();
  return (
    <ViewerProvider value={session}>
      <AppFrame navigation={(close) => <MainNavigation onNavigate={close} />} accountPath="/account">
        <ViewingNotice email={session.email} />
        <SuspensionNotice suspended={session.suspended} effect="Requests with all keys are refused." />
        <RoleNotice />
        <Outlet />
        <UnsavedGuard />
      </AppFrame>
    </ViewerProvider>
  );
}

/** Shows an operator whose pages these are. Nothing for anybody else. */
function ViewingNotice({ email }: { readonly email: string }): ReactNode {
  const customerId = viewedCustomer();
  if (customerId === undefined) return null;
  const leave = (): void => {
    stopViewing();
    window.location.assign(`/operator/customers/${customerId}`);
  };
  return (
    <Alert color="indigo" icon={<IconEye size={18} aria-hidden />} title="You see what the customer sees" mb="md">
      <Group justify="space-between" gap="xs">
        <Text size="sm">These are the pages of {email}, read-only. The customer’s audit log records that you viewed them.</Text>
        <Button size="xs" variant="default" onClick={leave}>
          Back to the console
        </Button>
      </Group>
    </Alert>
  );
}

/** Permission that a page's own buttons need. */
const PAGES: Readonly<Record<string, Permission>> = {
  '/keys': 'keys',
  '/plans': 'plans',
  '/alerts': 'alerts',
  '/webhooks': 'webhooks',
  '/tokens': 'tokens',
  '/team': 'members',
};

/** Explains why buttons of the page are disabled. Nothing for people who may use them. */
function RoleNotice(): ReactNode {
  const { role, permissions, organisation } = useSession();
  const page = useLocation({ select: ({ pathname }) => `/${pathname.split('/')[1] ?? ''}` });
  const needed = PAGES[page];
  if (role === null || needed === undefined || permissions.includes(needed)) return null;
  return (
    <Text size="sm" c="dimmed" mb="sm">
      Your role in <bdi className="breakable">{organisation}</bdi> is {ROLE_NAMES[role]}: you can view this page; an owner or admin can
      change things.
    </Text>
  );
}

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
function MainNavigation({ onNavigate }: { readonly onNavigate: () => void }): ReactNode {
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
