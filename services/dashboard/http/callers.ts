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
  /** All organisations of the person, their own first. */
  readonly memberships: readonly Membership[];
}

/** The caller: everything an endpoint reads or changes belongs to this customer. */
export interface SignedInCaller {
  readonly customerId: string;
  /** The customer's name: that of the organisation, else its email address. */
  readonly organisation: string;
  /** The customer's email address. */
  readonly address: string;
  /** Address of the calling person; the customer's address for a program, or an operator who looks. */
  readonly email: string;
  /** A person who is a member of the customer; absent for programs and operators. */
  readonly member?: CallingMember;
  /** For the audit log: the actor, and the network address of the request. */
  readonly actor: { readonly name: string; readonly from: string };
  /** The seller acts for the customer, and gives plans without a request. */
  readonly isSeller?: true;
  /** Scopes of a program's token; absent for a person, whose role decides. */
  readonly scopes?: ReadonlySet<string>;
}

/** A person who acts on their own account, in whichever organisation they work. */
export interface Person {
  readonly userId: string;
  readonly email: string;
  readonly hasSecondFactor: boolean;
  readonly sessionId: string;
  readonly actor: { readonly name: string; readonly from: string };
  /**
   * Asks for the password again: a person who finds an open browser has the session, but no password.
   * @throws Refusal 403 `password_wrong`, 403 `sign_in_again` for an account without one, 429 `too_many_attempts`
   */
  confirm(password: string | undefined): Promise<void>;
}

/** A person whose endpoint acts on an organisation too. */
export interface PersonOfOrganisation extends Person {
  /**
   * The person's own organisation, else the one joined first. Undefined for a person who is in none, or whose role in it does not grant
   * what the endpoint needs.
   */
  readonly customerId: string | undefined;
}

/** An operator who calls. */
export interface OperatorCaller {
  readonly id: string;
  readonly email: string;
  /** For the audit log: the actor, and the network address of the request. */
  readonly actor: { readonly name: string; readonly from: string };
  /** Scopes of the token; absent for a person. */
  readonly scopes?: ReadonlySet<string>;
}

/** The caller's type, by the audience of an endpoint. */
export interface Callers {
  readonly members: SignedInCaller;
  readonly persons: Person;
  readonly accounts: SessionUser;
  readonly operators: OperatorCaller;
  readonly everybody: undefined;
}
