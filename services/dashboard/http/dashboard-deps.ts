import { type Pool } from 'pg';
import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { type Clock } from '../../../plugins/core/ports';
import { type Log } from '../../kit/log';
import { type Payments } from '../../selling/billing/payments-of';
import { type LiveSource, type OpenedRoute } from '../contract/plans';
import { type TryAnswer } from '../contract/try';
import { type AttemptLimits } from './attempt-limits';

/** What is sent: text, from which the part with the brand is made. Its links sign somebody in, so that it must never be logged. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Address that ends such mail: by a POST of the mail program, or on the page that it shows. */
  readonly unsubscribe?: string;
}

/** How mail leaves the dashboard. */
export interface MailSender {
  /** What the installation calls itself in its mails; Tollgate unless given. */
  readonly installation?: string;
  /** @throws Error when the mail could not be handed over; the message holds nothing of it */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** Mail that one person's act sends to another. */
export interface Letters {
  readonly mail: Pick<MailSender, 'send' | 'installation'>;
  /** How many go to one address, from all senders together. */
  readonly limits: Pick<AttemptLimits, 'takeLetter'>;
  /** Origin of the dashboard as browsers see it. */
  readonly url: string;
  /** The seller's address for questions, where the brand has one. */
  readonly support?: string | undefined;
}

/** What is known of a product's live source. */
export interface KnownSource extends LiveSource {
  /** What a live key gets from each route; empty: not known. */
  readonly routes: readonly OpenedRoute[];
  /** The data on disk that it answers from, and when that is from: null where it does not say. Absent: it has none. */
  readonly data?: readonly { readonly name: string; readonly asOf: string | null }[];
}

/** What services and workers say of live sources, as it was heard last. */
export interface LiveSources {
  /** Null: no process said, or the one that did has been silent for too long. */
  find(product: string): KnownSource | null;
  /** Another text whenever something is another; without a request to anybody. */
  revision(): string;
}

export interface GatewayCall {
  readonly key: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Checked by the caller: it is appended to the gateway's URL. */
  readonly path: string;
  /** The query as it stands behind the `?`. */
  readonly query: string;
  /** Checked by the caller: none of those that are set here. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string | undefined;
  readonly body?: Buffer | undefined;
}

/** Calls the gateway as any client would. */
export interface GatewayPort {
  /**
   * @param caller a customer, or another name by which callers are told apart
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
  /** For calls that are tried out. */
  readonly gateway: GatewayPort;
  /** The secret of the test key with which a customer tries calls out. */
  readonly tryKeyOf: (customerId: string) => string;
  /** A name of the mailbox behind an address: the same for every spelling of it, and no address. */
  readonly mailboxOf: (email: string) => string;
  /** For mail that somebody's act sends to somebody else. */
  readonly letters: Letters;
  /** True in the embedded run: mail lies in the outbox page. */
  readonly hasOutbox: boolean;
  /** The outbox page is for the user who runs this process only. Default false. */
  readonly isOutboxOwn?: boolean;
  /** Webhooks may be private addresses on any port. Default false. */
  readonly allowPrivateWebhooks?: boolean;
  /** Absent: no process is asked, and nothing is known. */
  readonly liveSources?: LiveSources;
  /** Absent: nothing is paid in advance. */
  readonly payments?: Payments;
}
