import { type Pool } from 'pg';
import { type Catalogue } from '../../../../plugins/core/selling/catalogue';
import { type Clock } from '../../../../plugins/core/ports';
import { type Log } from '../../../kit/log';
import { type LiveSources } from '../public/watch-sources';
import { type Payments } from '../billing/payments-of';
import { type GatewayCaller } from '../requests/gateway-caller';
import { type Letters } from '../team/letters';

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
  readonly gateway: Pick<GatewayCaller, 'call'>;
  /** The secret of the test key with which a customer tries calls out. */
  readonly tryKeyOf: (customerId: string) => string;
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
