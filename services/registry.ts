import { aadhaarService } from './aadhaar/routes';
import { backgroundRemoverService } from './background-remover/routes';
import { gstService } from './gst/routes';
import { ipService } from './ip/routes';
import { type ServiceDefinition } from './kit/define-service';
import { pincodeService } from './pincode/routes';
import { vahaanService } from './vahaan/routes';

/** Every service by folder name. Add a product here and below: one without the other does not compile. */
export type ServiceName = 'aadhaar' | 'background-remover' | 'gst' | 'ip' | 'pincode' | 'vahaan';

export const SERVICES: Readonly<Record<ServiceName, ServiceDefinition>> = {
  aadhaar: aadhaarService,
  'background-remover': backgroundRemoverService,
  gst: gstService,
  ip: ipService,
  pincode: pincodeService,
  vahaan: vahaanService,
};
