import { type Pool } from 'pg';
import { type Catalogue } from '../../../../plugins/core/selling/catalogue';
import { type Role } from '../../../../plugins/core/selling/member-roles';
import { type Clock } from '../../../../plugins/core/ports';
import { type Membership } from '../../../../plugins/stores/postgres/members/find-memberships';
import { type Log } from '../../../kit/log';
import { type LiveSources } from '../public/watch-sources';
import { type GatewayCaller } from '../requests/gateway-caller';
import { type Letters } from '../team/letters';

/** A person who is signed in, in one organisation. */
export interface CallingMember {
  readonly userId: string;
  readonly role: Role;
  /** All organisations of the person, the own one first. */
  readonly memberships: readonly Membership[];
}

/** Who asks: everything an endpoint reads or changes belongs to this customer. */
export interface Caller {
  readonly customerId: string;
  /** By what the customer goes: the name of the organisation, else its e-mail address. */
  readonly organisation: string;
  /** The customer's e-mail address. */
  readonly address: string;
  /** Of the person who asks; of the customer where that is a program, or an operator who looks. */
  readonly email: string;
  /** A person who is a member of the customer; absent for programs and operators. */
  readonly member?: CallingMember;
  /** For the audit log: who, and the address it came from. */
  readonly actor: { readonly name: string; readonly from: string };
  /** Of a program's token; absent for a person, whose role says what is allowed. */
  readonly scopes?: ReadonlySet<string>;
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
  /** For calls that are tried out. */
  readonly gateway: Pick<GatewayCaller, 'call'>;
  /** The secret of the test key with which a customer tries calls out. */
  readonly tryKeyOf: (customerId: string) => string;
  /** For mail that somebody's act sends to somebody else. */
  readonly letters: Letters;
  /** True in the embedded run: mail lies in the outbox page. */
  readonly hasOutbox: boolean;
  /** Webhooks may be private addresses on any port. Default false. */
  readonly allowPrivateWebhooks?: boolean;
  /** Absent: nobody is asked, and nothing is known. */
  readonly liveSources?: LiveSources;
}
