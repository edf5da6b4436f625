import { aadhaarProviderExamples } from './aadhaar-provider';
import { aadhaarExamples, serveAadhaarLink } from './identity-aadhaar';
import { gstExamples, serveGstLink } from './identity-gst';
import { type SandboxUpstream } from '../sandbox-upstream';

/** The simulator that the identity worker uses for test keys of api-aadhaar. The result of an input depends on it. */
export type AadhaarSource = 'link' | 'provider';

/** The WebSocket links of the session products, at `/identity/gst` and `/identity/aadhaar`. */
export function createIdentity(aadhaarSource: AadhaarSource): SandboxUpstream {
  return {
    name: 'identity',
    examples: [...gstExamples, ...(aadhaarSource === 'link' ? aadhaarExamples : aadhaarProviderExamples)],
    webSockets: { '/gst': serveGstLink(), '/aadhaar': serveAadhaarLink() },
  };
}
