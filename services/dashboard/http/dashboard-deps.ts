import { type Pool } from 'pg';
import { windowsAt } from '../../../plugins/core/access/quota';
import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { type Clock } from '../../../plugins/core/ports';
import { type Log } from '../../kit/log';
import { type Payments } from '../../selling/billing/payments-of';
import { type LiveSource, type OpenedRoute } from '../contract/plans';
import { type TryAnswer } from '../contract/try';
import { type AttemptLimits } from './attempt-limits';

/** A mail: plain text, from which the branded part is made. Its links sign somebody in, so it must never be logged. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Address that ends such mail: by a POST of the mail program, or on the page that it shows. */
  readonly unsubscribe?: string;
}

/** Sends the dashboard's mail. */
export interface MailSender {
  /** The installation's name in its mails; Tollgate unless given. */
  readonly installation?: string;
  /** @throws Error if the mail could not be handed over; the message holds none of its content */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** Mail that one person's act sends to another. */
export interface Letters {
  readonly mail: Pick<MailSender, 'send' | 'installation'>;
  /** Limits on mail to one address, from all senders together. */
  readonly limits: Pick<AttemptLimits, 'takeLetter'>;
  /** Origin of the dashboard as browsers see it. */
  readonly url: string;
  /** The seller's address for questions, if the brand has one. */
  readonly support?: string | undefined;
}

/** What is known of a product's live source. */
export interface KnownSource extends LiveSource {
  /** What a live key gets from each route; empty if not known. */
  readonly routes: readonly OpenedRoute[];
  /** The data on disk that it serves, and their date: null if they have none. Absent: it has no data on disk. */
  readonly data?: readonly { readonly name: string; readonly asOf: string | null }[];
}

/** What services and workers last reported of their live sources. */
export interface LiveSources {
  /** Null: no process reported, or the one that did has been silent for too long. */
  find(product: string): KnownSource | null;
  /** A text that changes whenever anything changes; makes no requests. */
  revision(): string;
}

export interface GatewayCall {
  readonly key: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Checked by the caller: it is appended to the gateway's URL. */
  readonly path: string;
  /** The query as it stands behind the `?`. */
  readonly query: string;
  /** Checked by the caller: none of the headers that are set here. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string | undefined;
  readonly body?: Buffer | undefined;
}

/** Calls the gateway as any client would. */
export interface GatewayPort {
  /**
   * @param caller a customer, or another name that distinguishes callers
   * @throws Refusal 429 `too_many_attempts` while too many calls of this caller, or of all together, are under way
   */
  call(caller: string, request: GatewayCall): Promise<TryAnswer>;
}

/** What every endpoint may use. */
export interface DashboardDeps {
  readonly db: Pool;
  readonly clock: Clock;
  readonly log: Log;
  /** IANA name of the zone in which quota days turn. */
  readonly timeZone: string;
  /** Base URL of the gateway as customers reach it. */
  readonly gatewayUrl: string;
  /** What is sold now. */
  readonly catalogue: () => Promise<Catalogue>;
  /** The catalogue's file, where this process can read it. */
  readonly catalogueFile?: string;
  /** For trying calls out. */
  readonly gateway: GatewayPort;
  /** The secret of the test key with which a customer tries calls. */
  readonly tryKeyOf: (customerId: string) => string;
  /** A name for the mailbox behind an address: the same for every spelling, and not itself an address. */
  readonly mailboxOf: (email: string) => string;
  /** For mail that one person's act sends to another. */
  readonly letters: Letters;
  /** True in the embedded run, where mail is shown on the outbox page. */
  readonly hasOutbox: boolean;
  /** Only the user who runs this process may open the outbox page. Default false. */
  readonly isOutboxOwn?: boolean;
  /** Webhooks may be private addresses on any port. Default false. */
  readonly allowPrivateWebhooks?: boolean;
  /** Absent: no process is asked, and nothing is known. */
  readonly liveSources?: LiveSources;
  /** Absent: nothing is paid in advance. */
  readonly payments?: Payments;
}

/** `YYYY-MM-DD` in the quota time zone. */
export const todayOf = ({ clock, timeZone }: { readonly clock: Clock; readonly timeZone: string }): string =>
  windowsAt(clock.now() / 1_000, timeZone).day;
