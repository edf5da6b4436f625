import { aadhaarProviderExamples } from './aadhaar-provider';
import { aadhaarExamples, serveAadhaarLink } from './identity-aadhaar';
import { gstExamples, gstLinkExamples, serveGstLink } from './identity-gst';
import { type SandboxUpstream } from '../sandbox-upstream';

/** The simulators that the identity worker uses for test keys. The result of an input depends on them. */
export interface IdentitySources {
  readonly aadhaar: 'link' | 'provider';
  readonly gst: 'link' | 'portal';
}

/** The WebSocket links of the session products, at `/identity/gst` and `/identity/aadhaar`. */
export function createIdentity({ aadhaar, gst }: IdentitySources): SandboxUpstream {
  return {
    name: 'identity',
    examples: [
      ...gstExamples,
      ...(gst === 'link' ? gstLinkExamples : []),
      ...(aadhaar === 'link' ? aadhaarExamples : aadhaarProviderExamples),
    ],
    webSockets: { '/gst': serveGstLink(), '/aadhaar': serveAadhaarLink() },
  };
}
