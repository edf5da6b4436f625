// Original file: protos/identity/v1/identity.proto


export interface OtpSent {
}

export interface OtpSent__Output {
}
