import { type RefusalCode, refusalOf } from '../contract/refusals';

export interface RefusalOptions {
  /** Replaces the table's public text. */
  readonly detail?: string;
  /** better-auth's own code, in place of ours. */
  readonly code?: string;
  /** Further members of the body, for example `current`. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that is understood but not granted. Throw it anywhere below an endpoint's handler. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  constructor(
    readonly kind: RefusalCode,
    readonly options: RefusalOptions = {},
  ) {
    super(options.code ?? kind);
    this.status = refusalOf(kind).status;
  }

  /** RFC 9457 body. */
  problem(requestId: string): Readonly<Record<string, unknown>> {
    const { title, detail, status } = refusalOf(this.kind);
    const { code = this.kind, members } = this.options;
    return { ...members, type: 'about:blank', title, status, detail: this.options.detail ?? detail, code, request_id: requestId };
  }
}
