/** The members that are read of Envoy's message (protos/envoy); absent messages are null. */
export interface CheckRequest {
  readonly attributes: {
    readonly source: { readonly address: { readonly socketAddress: { readonly address: string } | null } | null } | null;
    readonly request: { readonly http: HttpAttributes | null } | null;
    readonly contextExtensions: Readonly<Record<string, string>>;
  } | null;
}

export interface HttpAttributes {
  readonly id: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  readonly headerMap: { readonly headers: readonly { readonly key: string; readonly value: string; readonly rawValue: Buffer }[] } | null;
}

export interface HeaderValueOption {
  readonly header: { readonly key: string; readonly value: string };
  readonly append: { readonly value: boolean };
}

/** A value of google.protobuf.Struct. */
interface Text {
  readonly stringValue: string;
}

export interface CheckResponse {
  /** google.rpc.Code: 0 lets the request pass, any other number refuses it. */
  readonly status: { readonly code: number; readonly message: string };
  readonly okResponse?: {
    readonly headers: readonly HeaderValueOption[];
    readonly headersToRemove: readonly string[];
    readonly responseHeadersToAdd: readonly HeaderValueOption[];
    readonly queryParametersToRemove: readonly string[];
  };
  readonly deniedResponse?: {
    readonly status: { readonly code: number };
    readonly headers: readonly HeaderValueOption[];
    readonly body: string;
  };
  /** For Envoy's access log: %DYNAMIC_METADATA(envoy.filters.http.ext_authz:request_id)% */
  readonly dynamicMetadata: { readonly fields: Readonly<Record<string, Text>> };
}
