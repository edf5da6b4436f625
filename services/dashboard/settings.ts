import { z } from 'zod';
import { isTimeZone } from '../../plugins/core/access/quota';
import {
  booleanSetting,
  type Environment,
  listSetting,
  numberSetting,
  portSetting,
  readSettings,
  urlSetting,
} from '../../plugins/core/settings';
import { brandSettings } from './brand/brand';
import { findProviderProblems, providerSettings } from './sign-in/providers/provider-settings';
import { findPaymentProblems, paymentSettings } from './billing/payment-settings';
import { alertSettings } from './customer/start-alerts';

const MIN_SECRET_CHARACTERS = 32;

function postgresUrl(): z.ZodType<string> {
  return z.string().refine((text) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text), 'must be a URL that starts with postgres://');
}

function smtpUrl(): z.ZodType<string> {
  return z.string().refine((text) => /^smtps?:\/\//.test(text) && URL.canParse(text), 'must be a URL that starts with smtp:// or smtps://');
}

const shape = z.object({
  DATABASE_URL: postgresUrl(),
  DASHBOARD_HOST: z.string().default('127.0.0.1'),
  DASHBOARD_PORT: numberSetting({ min: 1, max: 65_535 }).default(8080),
  /** Where people's browsers reach the dashboard; it needs its own host and port, because cookies and CSP apply to all of it. */
  DASHBOARD_URL: urlSetting()
    .refine((url) => new URL(url).pathname === '/', 'must have no path')
    .optional(),
  /** Base URL of the gateway as customers reach it. */
  GATEWAY_URL: urlSetting(),
  /** Where the dashboard itself reaches the gateway to try calls; GATEWAY_URL unless given. */
  DASHBOARD_GATEWAY_URL: urlSetting().optional(),
  ...brandSettings.shape,
  ...providerSettings.shape,
  /** Whether readers without an account may try calls in the sandbox. */
  DASHBOARD_PUBLIC_TRY: booleanSetting().default(true),
  /** Private servers of services and workers, which know which products have a live source; none unless given. */
  DASHBOARD_LIVE_FROM: listSetting()
    .refine((urls) => urls.every((url) => /^https?:\/\//.test(url) && URL.canParse(url)), 'must be URLs with commas between them')
    .default([]),
  QUOTA_TIMEZONE: z.string().refine(isTimeZone, 'must be an IANA time zone such as Asia/Kolkata').default('Asia/Kolkata'),
  /** Signs sessions and the links in mail. */
  DASHBOARD_SECRET: z.string().min(MIN_SECRET_CHARACTERS, `must have at least ${MIN_SECRET_CHARACTERS} characters`),
  /** `outbox` shows every mail on a page, to anybody, so it is only for a developer's machine. */
  DASHBOARD_MAIL: z.enum(['outbox', 'smtp']).default('smtp'),
  /** `npm start`: only the user who runs this process may open the outbox, not other users of the machine. */
  DASHBOARD_OUTBOX_OWN_USER: booleanSetting().default(false),
  SMTP_URL: smtpUrl().optional(),
  DASHBOARD_MAIL_FROM: z.string().min(3).optional(),
  /** Addresses and networks of proxies whose X-Forwarded-For is believed; none unless given. */
  DASHBOARD_TRUSTED_PROXIES: listSetting().default([]),
  ...paymentSettings.shape,
  PRIVATE_HOST: z.string().default('127.0.0.1'),
  PRIVATE_PORT: portSetting().default(9090),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

const dashboardSettings = shape
  .extend(alertSettings.shape)
  .superRefine(({ DASHBOARD_MAIL, SMTP_URL, DASHBOARD_MAIL_FROM, ...rest }, context) => {
    for (const problem of findPaymentProblems({ DASHBOARD_MAIL, ...rest })) context.addIssue({ code: 'custom', ...problem });
    for (const { name, message } of findProviderProblems(rest)) context.addIssue({ code: 'custom', path: [name], message });
    if (DASHBOARD_MAIL !== 'smtp') return;
    const message = 'is required to send mail (DASHBOARD_MAIL=smtp)';
    if (SMTP_URL === undefined) context.addIssue({ code: 'custom', path: ['SMTP_URL'], message });
    if (DASHBOARD_MAIL_FROM === undefined) context.addIssue({ code: 'custom', path: ['DASHBOARD_MAIL_FROM'], message });
  });

export type DashboardSettings = z.output<typeof dashboardSettings>;

/**
 * With real mail strangers can sign up, and private webhooks would open the network to them: these are off then, whatever is set.
 * @throws SettingsError listing every problem
 */
export function readDashboardSettings(env: Environment): DashboardSettings {
  const settings = readSettings({ dashboard: dashboardSettings }, env).dashboard;
  const isPrivateAllowed = settings.DASHBOARD_MAIL === 'outbox' && settings.DASHBOARD_WEBHOOKS_ALLOW_PRIVATE;
  return { ...settings, DASHBOARD_WEBHOOKS_ALLOW_PRIVATE: isPrivateAllowed };
}
