import { type Role } from '../../selling/members/member-roles';
import { type Membership } from '../../selling/members/find-memberships';

/** The person of a session. */
export interface SessionUser {
  readonly id: string;
  readonly email: string;
  readonly emailVerified: boolean;
  /** True once signing in asks for a second factor. */
  readonly hasSecondFactor: boolean;
  readonly session: { readonly id: string; readonly createdAt: Date };
}

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
  /** The customer's name: that of the organisation, else its e-mail address. */
  readonly organisation: string;
  /** The customer's e-mail address. */
  readonly address: string;
  /** Address of the person who asks; of the customer if a program asks, or an operator looks. */
  readonly email: string;
  /** A person who is a member of the customer; absent for programs and operators. */
  readonly member?: CallingMember;
  /** For the audit log: who, and the address it came from. */
  readonly actor: { readonly name: string; readonly from: string };
  /** The seller acts for the customer, and gives plans without being asked. */
  readonly isSeller?: true;
  /** Scopes of a program's token; absent for a person, whose role says what is allowed. */
  readonly scopes?: ReadonlySet<string>;
}

/** A person who asks about the own account, in whichever organisation that person works. */
export interface Person {
  readonly userId: string;
  readonly email: string;
  readonly hasSecondFactor: boolean;
  readonly sessionId: string;
  readonly actor: { readonly name: string; readonly from: string };
  /**
   * Somebody who finds an open browser has a session, and no password.
   * @throws Refusal 403 `password_wrong`, 403 `sign_in_again` for an account without one, 429 `too_many_attempts`
   */
  confirm(password: string | undefined): Promise<void>;
}

/** A person whose endpoint acts on an organisation too. */
export interface PersonOfOrganisation extends Person {
  /** The own one, else the one joined first. Undefined for a person who is in none, or whose role in it does not grant what the endpoint needs. */
  readonly customerId: string | undefined;
}

/** Who asks, of those who run the installation. */
export interface OperatorCaller {
  readonly id: string;
  readonly email: string;
  /** For the audit log: who, and the address it came from. */
  readonly actor: { readonly name: string; readonly from: string };
  /** Scopes of the token; a person has none. */
  readonly scopes?: ReadonlySet<string>;
}

/** Who asks, by the audience of an endpoint. */
export interface Callers {
  readonly members: Caller;
  readonly persons: Person;
  readonly accounts: SessionUser;
  readonly operators: OperatorCaller;
  readonly everybody: undefined;
}
