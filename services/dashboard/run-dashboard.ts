import { join } from 'node:path';
import { type Pool } from 'pg';
import { systemClock } from '../../plugins/core/ports';
import { watchCatalogue } from '../selling/catalogue/watch-catalogue';
import { createPool } from '../../plugins/stores/postgres/pool';
import { type Environment } from '../../plugins/core/settings';
import { createLog, type Log } from '../kit/log';
import { catalogueFile } from '../kit/read-catalogue';
import { createMetrics, type Metrics } from '../kit/metrics';
import { startPrivateServer } from '../kit/service/private-server';
import { createDashboardApp } from './app';
import { createAttemptLimits } from './http/attempt-limits';
import { createAuthLater } from './sign-in/create-auth';
import { readProviders } from './sign-in/providers/provider-settings';
import { GatewayCaller } from './customer/requests/gateway-caller';
import { createMailboxNames } from '../selling/customers/mailbox';
import { createTryKeys } from './customer/requests/try-key';
import { createOutboxSender, createSmtpSender } from './mail/mail-sender';
import { type MailLook } from './mail/mail-page';
import { type MailSender, type LiveSources } from './http/dashboard-deps';
import { type SellersFolder, WatchedFolder } from './storefront/sellers-folder';
import { describeInThread } from './storefront/keep-description';
import { READER_CALLS } from './storefront/public-try';
import { createStatusLinks } from './storefront/status-links';
import { statusMailsBy } from './storefront/status-mails';
import { type DashboardSettings, readDashboardSettings } from './settings';
import { startErasing } from './sign-in/start-erasing';
import { startConsoleJobs } from './seller/console/start-console-jobs';
import { WatchedSources } from './storefront/watch-sources';
import { startAlerts } from './customer/start-alerts';
import { startOutages } from './customer/alerts/start-outages';
import { openPaymentPorts } from './billing/payment-settings';
import { type Payments } from '../selling/billing/payments-of';
import { startPayments } from './billing/start-payments';
import { startBilling } from './billing/start-billing';
import { startStatements } from './customer/plans/start-statements';
import { writeAnswerMails } from './customer/plans/answer-mails';
import { writeAlertMails } from './customer/alerts/alert-mails';
import { writeOutageMails } from './customer/alerts/outage-mails';
import { writeInvoiceMails } from './billing/invoice-mails';
import { writePaymentMails } from './billing/payment-mails';
import { startMails } from './mail/start-mails';

export interface RunningDashboard {
  /** Where people reach it. */
  readonly url: string;
  /** `/metrics`, `/health`, `/ready`. */
  readonly privateUrl: string;
  /** Lets requests finish, then closes everything. */
  close(): Promise<void>;
}

/** A page must not hang on a database that does not respond. */
const STATEMENT_TIMEOUT_MS = 5_000;
const MAX_CONNECTIONS = 10;
/** Starting everything at once needs the processor for other work first. This is done before the first person signs in. */
const AUTH_LOAD_MS = 2_000;
/** Beside this module's folder in the build; see cli/build.mjs. */
const WEB_ROOT = join(__dirname, 'web');

function baseUrl({ DASHBOARD_URL, DASHBOARD_HOST, DASHBOARD_PORT }: DashboardSettings): string {
  const host = DASHBOARD_HOST.includes(':') ? `[${DASHBOARD_HOST}]` : DASHBOARD_HOST;
  return new URL(DASHBOARD_URL ?? `http://${host}:${DASHBOARD_PORT}`).origin;
}

async function createMail(settings: DashboardSettings, { db, log, look }: { db: Pool; log: Log; look: MailLook }): Promise<MailSender> {
  const { DASHBOARD_MAIL, SMTP_URL, DASHBOARD_MAIL_FROM } = settings;
  if (DASHBOARD_MAIL === 'smtp' && SMTP_URL !== undefined && DASHBOARD_MAIL_FROM !== undefined) {
    return createSmtpSender(SMTP_URL, DASHBOARD_MAIL_FROM, look);
  }
  return createOutboxSender(db, { log, pageUrl: `${baseUrl(settings)}/outbox` });
}

async function startApp(
  settings: DashboardSettings,
  tools: { db: Pool; log: Log; mail: MailSender; metrics: Metrics; liveSources: LiveSources; folder: SellersFolder; payments: Payments },
): Promise<() => Promise<void>> {
  const { db, log, mail, metrics, liveSources, folder, payments } = tools;
  const url = baseUrl(settings);
  const secret = settings.DASHBOARD_SECRET;
  const gatewayUrl = settings.DASHBOARD_GATEWAY_URL ?? settings.GATEWAY_URL;
  const gateway = new GatewayCaller({ url: gatewayUrl, log });
  // Connections of their own: readers use none of those on which customers try calls.
  const readerGateway = settings.DASHBOARD_PUBLIC_TRY ? new GatewayCaller({ url: gatewayUrl, log, ...READER_CALLS }) : undefined;
  const deps = {
    db,
    log,
    clock: systemClock,
    timeZone: settings.QUOTA_TIMEZONE,
    gatewayUrl: settings.GATEWAY_URL,
    catalogue: watchCatalogue(db),
    catalogueFile: catalogueFile(settings),
    gateway,
    tryKeyOf: createTryKeys(secret),
    mailboxOf: createMailboxNames(secret),
    letters: {
      mail,
      url,
      limits: createAttemptLimits(db, secret),
      get support() {
        return folder.brand.words?.support;
      },
    },
    hasOutbox: settings.DASHBOARD_MAIL === 'outbox',
    isOutboxOwn: settings.DASHBOARD_OUTBOX_OWN_USER,
    liveSources,
    payments,
    allowPrivateWebhooks: settings.DASHBOARD_WEBHOOKS_ALLOW_PRIVATE,
  };
  const providers = readProviders(settings);
  const auth = createAuthLater({ db, secret, url, mail, log, providers });
  const trustedProxies = settings.DASHBOARD_TRUSTED_PROXIES;
  const app = await createDashboardApp({
    deps,
    auth,
    mail,
    secret,
    url,
    trustedProxies,
    webRoot: WEB_ROOT,
    metrics,
    providers,
    folder,
    readerGateway,
    describe: describeInThread,
  });
  await app.listen({ host: settings.DASHBOARD_HOST, port: settings.DASHBOARD_PORT });
  const loadAuth = (): void => void auth().catch((error: unknown) => log.error({ err: error }, 'accounts could not be loaded'));
  setTimeout(loadAuth, AUTH_LOAD_MS).unref();
  // Calls that are still being tried must not delay the stop.
  return async () => void (await Promise.all([app.close(), gateway.close(), readerGateway?.close()]));
}

/**
 * Starts the dashboard in this process. It responds with or without PostgreSQL: without it with 503, and normally again once it is back.
 * @throws SettingsError listing everything that is wrong with the environment; an error of the port
 */
export async function runDashboard(env: Environment): Promise<RunningDashboard> {
  const settings = readDashboardSettings(env);
  const log = createLog('dashboard', { level: settings.LOG_LEVEL });
  if (env['DASHBOARD_WEBHOOKS_ALLOW_PRIVATE'] === 'true' && !settings.DASHBOARD_WEBHOOKS_ALLOW_PRIVATE) {
    log.warn('DASHBOARD_WEBHOOKS_ALLOW_PRIVATE has no effect with DASHBOARD_MAIL=smtp');
  }
  const db = createPool(settings.DATABASE_URL, {
    max: MAX_CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    applicationName: 'tollgate dashboard',
    onError: (error) => log.warn({ err: error }, 'a database connection broke'),
  });
  const metrics = createMetrics({ withProcess: true });
  const folder = new WatchedFolder({ settings, log });
  const look: MailLook = {
    url: baseUrl(settings),
    get brand() {
      return folder.brand;
    },
  };
  const mail: MailSender = {
    ...(await createMail(settings, { db, log, look })),
    get installation() {
      return folder.brand.name;
    },
  };

  const liveSources = new WatchedSources({ urls: settings.DASHBOARD_LIVE_FROM, log, clock: systemClock });
  const payments = startPayments({
    db,
    log,
    clock: systemClock,
    catalogue: watchCatalogue(db),
    ports: await openPaymentPorts(settings),
  });
  const closeApp = await startApp(settings, { db, log, mail, metrics, liveSources, folder, payments });
  const statements = startStatements({ db, log, clock: systemClock, timeZone: settings.QUOTA_TIMEZONE, registry: metrics.registry });
  const billing = startBilling({
    db,
    log,
    clock: systemClock,
    timeZone: settings.QUOTA_TIMEZONE,
    catalogue: watchCatalogue(db),
    ports: payments.ports,
    registry: metrics.registry,
  });
  const mails = startMails({
    db,
    log,
    clock: systemClock,
    timeZone: settings.QUOTA_TIMEZONE,
    catalogue: watchCatalogue(db),
    url: baseUrl(settings),
    mail,
    write: {
      alerts: writeAlertMails,
      plan_answer: writeAnswerMails,
      outage: writeOutageMails,
      status: statusMailsBy(createStatusLinks({ secret: settings.DASHBOARD_SECRET, url: baseUrl(settings) })),
      invoice: writeInvoiceMails,
      payment: writePaymentMails,
    },
  });
  const jobs = startConsoleJobs({ db, log, clock: systemClock, timeZone: settings.QUOTA_TIMEZONE });
  const erasing = startErasing({ db, log });
  const alerts = startAlerts({ db, log, clock: systemClock, timeZone: settings.QUOTA_TIMEZONE, settings });
  const outages = startOutages({ db, log, timeZone: settings.QUOTA_TIMEZONE });
  const privateServer = await startPrivateServer({
    host: settings.PRIVATE_HOST,
    port: settings.PRIVATE_PORT,
    metrics,
    checks: { dashboard: async () => void (await db.query('SELECT 1')) },
  });
  return {
    url: baseUrl(settings),
    privateUrl: privateServer.url,
    async close() {
      privateServer.startDraining();
      await Promise.all([
        closeApp(),
        alerts.close(),
        outages.close(),
        mails.close(),
        statements.close(),
        billing.close(),
        payments.close(),
        jobs.close(),
        erasing.close(),
        liveSources.close(),
      ]);
      folder.close();
      mail.close();
      await db.end();
      await privateServer.close();
    },
  };
}
