// Original file: protos/identity/v1/identity.proto


export interface GstStartRequest {
}

export interface GstStartRequest__Output {
}
