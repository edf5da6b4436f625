import { aadhaarService } from './aadhaar/routes';
import { appService } from './app/routes';
import { backgroundRemoverService } from './background-remover/routes';
import { gleadService } from './glead/routes';
import { grankService } from './grank/routes';
import { gstService } from './gst/routes';
import { ipService } from './ip/routes';
import { type ServiceDefinition } from './kit/define-service';
import { pincodeService } from './pincode/routes';
import { seoService } from './seo/routes';
import { vahaanService } from './vahaan/routes';

/** Every service by folder name. Add a product here and below: one without the other does not compile. */
export type ServiceName = 'aadhaar' | 'app' | 'background-remover' | 'glead' | 'grank' | 'gst' | 'ip' | 'pincode' | 'seo' | 'vahaan';

export const SERVICES: Readonly<Record<ServiceName, ServiceDefinition>> = {
  aadhaar: aadhaarService,
  app: appService,
  'background-remover': backgroundRemoverService,
  glead: gleadService,
  grank: grankService,
  gst: gstService,
  ip: ipService,
  pincode: pincodeService,
  seo: seoService,
  vahaan: vahaanService,
};
