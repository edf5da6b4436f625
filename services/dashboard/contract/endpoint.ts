import { type z } from 'zod';
import { type Permission } from '../../selling/members/member-roles';
import { type Scope, type SellerScope } from './fields';
import { type RefusalCode } from './refusals';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Method and path below `/api`. A name with a colon is a parameter: a UUID unless `params` says otherwise. */
export type EndpointName = `${Method} /${string}`;

/** Media type of every table; the first line names the columns. */
export const CSV = 'text/csv; charset=utf-8; header=present';

interface What {
  /** One line for the API's description. */
  readonly summary: string;
  readonly params?: Readonly<Record<string, z.ZodType>>;
  readonly query?: z.ZodObject;
  /** Without one, a body that holds anything is ignored. */
  readonly body?: z.ZodType;
  /** The JSON of a 200. Members that the schema does not name are not sent. */
  readonly answer?: z.ZodType;
  /** Media type of a file that is sent instead of JSON. Without `answer` and `file` the response is 204. */
  readonly file?: string;
  /** Marks a method other than GET that changes nothing. It does not count as a write. */
  readonly isRead?: true;
  /**
   * Members of a suspended customer may call it too, because it takes something away, or is how they pay or leave. Reads need no such mark.
   */
  readonly whileSuspended?: true;
  /** Refusals besides those that any caller of its audience may get. */
  readonly refuses?: readonly RefusalCode[];
}

/**
 * Who may call. A member acts for an organisation by role, a person on their own account, an account between organisations, an operator on
 * everything. Everybody needs no session.
 */
type Who =
  | {
      readonly for: 'members';
      /** What the member's role must grant. */
      readonly needs: Permission;
      /** A token of the management API with one of these scopes may call too. */
      readonly scopes?: readonly Scope[];
      /** A token of the seller's API may call too, for any customer; with one of `scopes` unless given. */
      readonly sellerScopes?: readonly SellerScope[];
    }
  | {
      readonly for: 'persons';
      /**
       * The endpoint acts on the person's organisation too: the handler gets the organisation only if the person's role in it grants this.
       * Without it, the handler gets none.
       */
      readonly needsForOrganisation?: Permission;
    }
  | { readonly for: 'accounts' }
  | {
      readonly for: 'operators';
      /** A token of the seller's API with one of these scopes may call too. */
      readonly sellerScopes?: readonly SellerScope[];
    }
  | { readonly for: 'everybody' };

/** One endpoint: who may call it, with what input, and what it returns. */
export type Endpoint = What & Who;
export type Audience = Who['for'];
export type Endpoints = Readonly<Record<EndpointName, Endpoint>>;

/** The names in a path: `id` and `deliveryId` of `/webhooks/:id/deliveries/:deliveryId`. */
type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;
export type Params<Name> = Name extends string ? Readonly<Record<NamesIn<Name>, string>> : never;

/** The schema of one member of a definition; undefined if it has none. */
export type Schema<Definition, Member extends 'query' | 'body' | 'answer'> =
  Definition extends Readonly<Record<Member, infer Found>> ? Found : undefined;

/** What may be passed for a value: readonly arrays and objects too. */
export type Given<Value> = unknown extends Value
  ? unknown
  : Value extends string | number | boolean | null | undefined | Date
    ? Value
    : { readonly [Member in keyof Value]: Given<Value[Member]> };

/** Method and path of an endpoint's name. */
export function partsOf(name: EndpointName): { readonly method: Method; readonly path: `/${string}` } {
  const [method, path] = name.split(' ') as [Method, `/${string}`];
  return { method, path };
}
