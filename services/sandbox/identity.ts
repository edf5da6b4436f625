import { aadhaarExamples, serveAadhaarLink } from './identity-aadhaar';
import { gstExamples, serveGstLink } from './identity-gst';
import { type SandboxUpstream } from './sandbox-upstream';

/** The WebSocket links of the session products, at `/identity/gst` and `/identity/aadhaar`. */
export function createIdentity(): SandboxUpstream {
  return {
    name: 'identity',
    examples: [...gstExamples, ...aadhaarExamples],
    webSockets: { '/gst': serveGstLink(), '/aadhaar': serveAadhaarLink() },
  };
}
